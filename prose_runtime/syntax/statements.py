"""Parse trees of lines into statements and constructs, with the bodies that stand below them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, Protocol

from prose_runtime.diagnostics import Collector, Edit, Fix, did_you_mean
from prose_runtime.nodes import (
    Agent,
    Append,
    Ask,
    Bind,
    Block,
    BlockDef,
    Branch,
    Break,
    Catch,
    Choice,
    Condition,
    Constant,
    Continue,
    Destructure,
    Do,
    Emit,
    Expr,
    ExprStatement,
    Field,
    ForEach,
    If,
    Index,
    Input,
    Invalid,
    Loop,
    MadeName,
    Name,
    Node,
    ObjectExpr,
    Option,
    Output,
    Parallel,
    ParallelOptions,
    Pipeline,
    Repeat,
    Return,
    Sleep,
    Stage,
    Template,
    Throw,
    Try,
    Use,
)
from prose_runtime.records import dataclass
from prose_runtime.syntax import conditions, parameter_text, properties, strings
from prose_runtime.syntax.expressions import ExpressionBuilder, Inputs, Pair, span_of
from prose_runtime.syntax.messages import last_word
from prose_runtime.syntax.outer import hits, trimmed
from prose_runtime.text import Source, Span

if TYPE_CHECKING:
    from prose_runtime.syntax.grammar import Tree
    from prose_runtime.syntax.lexer import Token

MODES = ("all", "first", "any")
FAILURES = ("fail-fast", "continue", "ignore")
_SECONDS = {"ms": 0.001, "milli": 0.001, "s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Part:
    """A line that goes on with what is above it: ``elif``, ``else``, ``catch``, ``finally``, ``option``, stages."""

    kind: Literal["elif", "else", "catch", "finally", "option", "stage", "onward"]
    span: Span
    block: Block
    condition: Condition | None = None
    var: Name | None = None
    label: str = ""
    stage: Stage | None = None
    onward: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """``- value`` of a list that is written as lines."""

    span: Span
    value: Expr


@dataclass(frozen=True, slots=True)
class Settings:
    """What stands in the brackets of a head: ``("any", count: 2)``."""

    span: Span
    mode: Token | None
    pairs: tuple[Pair, ...]


class Surroundings(Protocol):
    """What the builder asks about the lines around the one it builds. Those below and behind it are built already."""

    @property
    def end(self) -> int:
        """Where the line itself ends, without what stands below it."""

    @property
    def has_below(self) -> bool:
        """Whether anything stands below the line."""

    def body(self, head: Span, word: str) -> Block:
        """The statements below the line."""

    def value_below(self) -> Expr | None:
        """The value that stands below a line which ends where it should begin."""

    def options(self) -> list[Part]:
        """The options below a choice."""

    def clauses(self, *kinds: str) -> list[Part]:
        """The parts of these kinds that follow directly; they are taken."""

    def stages(self) -> tuple[Part, ...]:
        """The lines below or behind the line that go on with its value; they are taken."""


class StatementBuilder(ExpressionBuilder):
    """Builds a line's statement. ``around`` gives the lines below and behind it."""

    def __init__(self, source: Source, out: Collector, around: Surroundings):
        super().__init__(source, out, partial(conditions.read, source, out=out))
        self.around = around

    def whole(self, value: Expr) -> Expr:
        """A value with the pipeline stages and arrows that go on with it."""
        for is_stage, parts in groupby(self.around.stages(), lambda part: part.stage is not None):
            if is_stage:
                stages = tuple(part.stage for part in parts if part.stage is not None)
                value = Pipeline(span=Span(value.span.start, stages[-1].span.end), source=value, stages=stages)
            else:
                value = reduce(self.onward, (target for part in parts for target in part.onward), value)
        return value

    def _reach(self, tree: Tree[Any], *inner: Node | None) -> Span:
        """The span of a line's construct, up to the end of all that belongs to it."""
        span = span_of(tree)
        return Span(span.start, max([span.end, *(node.span.end for node in inner if node is not None)]))

    # statements

    def _on_bind(self, tree: Tree[Any], kids: list[Any]) -> Node:
        keyword: Literal["let", "const"] = "let" if kids[0].type == "LET" else "const"
        return self._bind(tree, keyword, kids[1], kids[3])

    def _on_assign(self, tree: Tree[Any], kids: list[Any]) -> Node:
        return self._bind(tree, None, kids[0], kids[2])

    def _bind(self, tree: Tree[Any], keyword: Literal["let", "const"] | None, left: Expr, value: Expr | None) -> Node:
        given = value or self.around.value_below()
        if given is None:
            sign = Span(span_of(tree).end - 1, span_of(tree).end)
            help_ = "write the value, or `null` for none"
            self.out.error("missing-value", sign, "nothing stands behind the `=`", help_)
            return self._invalid(tree)
        target = self._target(left)
        if target is None:
            return self._invalid(tree)
        full = self.whole(given)
        return Bind(span=self._reach(tree, full), keyword=keyword, target=target, value=full)

    def _target(self, left: Expr) -> Name | MadeName | Field | Index | Destructure | None:
        if isinstance(left, Name | MadeName | Field | Index):
            return left
        if isinstance(left, ObjectExpr) and left.entries:
            names = [entry.value for entry in left.entries]
            plain = [name for name in names if isinstance(name, Name)]
            if len(plain) == len(names) and all(e.key == n.id for e, n in zip(left.entries, plain, strict=True)):
                return Destructure(span=left.span, names=tuple(plain))
        self.out.error(
            "assignment-target",
            left.span,
            "this cannot be assigned to",
            "write a name, a field `x.f`, or names in braces `{ a, b }` on the left of `=`",
        )
        return None

    def _invalid(self, tree: Tree[Any]) -> Invalid:
        span = span_of(tree)
        return Invalid(span=span, text=self.source.slice(span))

    def _on_return(self, tree: Tree[Any], kids: list[Any]) -> Return:
        value = self.whole(kids[0]) if kids[0] is not None else None
        return Return(span=self._reach(tree, value), value=value)

    def _on_throw(self, tree: Tree[Any], kids: list[Any]) -> Throw:
        value = self.whole(kids[0]) if kids[0] is not None else None
        return Throw(span=self._reach(tree, value), value=value)

    def _on_break(self, tree: Tree[Any], kids: list[Any]) -> Break:
        return Break(span=span_of(tree))

    def _on_continue(self, tree: Tree[Any], kids: list[Any]) -> Continue:
        return Continue(span=span_of(tree))

    def _on_emit(self, tree: Tree[Any], kids: list[Any]) -> Emit:
        value = self.whole(kids[0])
        return Emit(span=self._reach(tree, value), value=value)

    def _on_record(self, tree: Tree[Any], kids: list[Any]) -> Append:
        return Append(span=span_of(tree), word="record", value=kids[0], target=kids[1])

    def _on_append(self, tree: Tree[Any], kids: list[Any]) -> Append:
        return Append(span=span_of(tree), word="append", value=kids[0], target=kids[1])

    def _on_append_short(self, tree: Tree[Any], kids: list[Any]) -> Append:
        return Append(span=span_of(tree), word="append", value=kids[1], target=kids[0])

    def _on_add(self, tree: Tree[Any], kids: list[Any]) -> Append:
        return Append(span=span_of(tree), word="add", value=kids[0], target=kids[1], note=kids[2])

    def _on_note(self, tree: Tree[Any], kids: list[Any]) -> Expr:
        note: Expr = kids[1]
        return note

    def _on_sleep(self, tree: Tree[Any], kids: list[Any]) -> Sleep:
        if isinstance(kids[0], Expr):
            return Sleep(span=span_of(tree), seconds=kids[0])
        text = str(kids[0])
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyz \t")
        unit = text[len(digits) :].strip()
        factor = next(f for u, f in _SECONDS.items() if unit.startswith(u))
        seconds = self.number(digits, span_of(kids[0])) * factor
        value = int(seconds) if seconds == int(seconds) else seconds
        return Sleep(span=span_of(tree), seconds=Constant(span=span_of(kids[0]), value=value))

    def _on_onward(self, tree: Tree[Any], kids: list[Any]) -> Part:
        span = span_of(tree)
        return Part("onward", span, Block(span=span, statements=()), onward=tuple(kids))

    def _on_named(self, tree: Tree[Any], kids: list[Any]) -> Bind:
        """``ask "text" as name``: the value's name stands behind it."""
        value, name = kids[0], self.name(kids[1])
        place = Span(self.source.text.rindex("as", 0, name.span.start), name.span.end)
        edits = (Edit(Span(value.span.start, value.span.start), f"let {name.id} = "), Edit(place, ""))
        message = f"the name `{name.id}` stands behind its value"
        fix = Fix("Put the name first", edits)
        self.out.warning("name-behind", place, message, f"write `let {name.id} = ...`", fix=fix)
        return Bind(span=self._reach(tree, value), keyword="let", target=name, value=self.whole(value))

    def _on_expr_statement(self, tree: Tree[Any], kids: list[Any]) -> ExprStatement:
        value = self.whole(kids[0])
        return ExprStatement(span=self._reach(tree, value), value=value)

    # definitions

    def _on_use(self, tree: Tree[Any], kids: list[Any]) -> Use:
        return self._use(tree, kids[0], kids[0], kids[1])

    def _on_import(self, tree: Tree[Any], kids: list[Any]) -> Use:
        return self._use(tree, kids[1] or kids[0], kids[0], kids[2])

    def _use(self, tree: Tree[Any], reference: Token, named: Token, alias: Token | None) -> Use:
        text = strings.plain(self.source, span_of(reference), self.out)
        if alias is not None:
            return Use(span=span_of(tree), reference=text, alias=self.name(alias))
        last = strings.plain(self.source, span_of(named), self.out).rstrip("/").rpartition("/")[2]
        return Use(span=span_of(tree), reference=text, alias=Name(span=span_of(named), id=last.partition(".")[0]))

    def _on_agent(self, tree: Tree[Any], kids: list[Any]) -> Agent:
        self._colon(tree, kids, "agent")
        end = max([span_of(tree).end, *(arg.span.end for arg in self.below)])
        args = properties.read(self.below, properties.AGENT, self.source)
        return Agent(span=Span(span_of(tree).start, end), name=self.name(kids[0]), args=args)

    def _on_block(self, tree: Tree[Any], kids: list[Any]) -> BlockDef:
        body = self._body(tree, kids, "block")
        params = kids[1] or ()
        given = tuple(default for _, default in params if default is not None)
        if given:
            start = min(default.span.start for default in given)
            body = Block(span=Span(start, max(start, body.span.end)), statements=(*given, *body.statements))
        names = tuple(name for name, _ in params)
        return BlockDef(span=self._reach(tree, body), name=self.name(kids[0]), params=names, body=body)

    def _on_params(self, tree: Tree[Any], kids: list[Any]) -> tuple[parameter_text.Parameter, ...]:
        return tuple(kids)

    def _on_param(self, tree: Tree[Any], kids: list[Any]) -> parameter_text.Parameter:
        said = span_of(kids[1]) if kids[1] is not None else None
        return parameter_text.read(span_of(tree), self.name(kids[0]), said, kids[3], self.out)

    def _on_names(self, tree: Tree[Any], kids: list[Any]) -> tuple[Name, ...]:
        return tuple(self.name(kid) for kid in kids)

    def _on_input(self, tree: Tree[Any], kids: list[Any]) -> Input:
        text = next((kid for kid in kids[1:] if getattr(kid, "type", "") == "STRING"), None)
        plain = strings.plain(self.source, span_of(text), self.out) if text is not None else ""
        return Input(span=span_of(tree), name=self.name(kids[0]), text=plain)

    def _on_output(self, tree: Tree[Any], kids: list[Any]) -> Output:
        value = self.whole(kids[2]) if kids[2] is not None else self.name(kids[0])
        return Output(span=self._reach(tree, value), name=self.name(kids[0]), value=value)

    def _on_gate(self, tree: Tree[Any], kids: list[Any]) -> Bind:
        """``gate name: "text"``: the answer's name is bound."""
        prompt = next((kid for kid in kids[1:] if isinstance(kid, Expr)), None)
        inputs = next((kid for kid in kids[1:] if isinstance(kid, Inputs)), None)
        args = self._properties(tree, inputs, properties.ASK)
        span, start = span_of(tree), prompt.span.start if prompt else span_of(kids[0]).end
        ask = Ask(span=Span(start, max(start, span.end)), prompt=prompt, gate=True, args=args)
        return Bind(span=span, keyword="let", target=self.name(kids[0]), value=ask)

    # constructs

    def _colon(self, tree: Tree[Any], kids: list[Any], word: str) -> None:
        if kids[-1] is not None:
            return
        start, end, below = span_of(tree).start, self.around.end, self.around.has_below
        inside = next(hits(self.source.text, Span(start, end), ":"), None)
        if inside and not below and word != "choice":
            help_ = "move what stands behind the colon to the next line and indent it"
            self.out.error("missing-body", Span(inside.end(), end), f"this `{word}` has no readable body", help_)
            return
        self.out.error(
            "missing-colon",
            last_word(self.source.text, Span(start, end)),
            f"the `{word}` line lacks its colon",
            "end the line with `:`",
            fix=Fix("Add the colon", (Edit(Span(end, end), ":"),)) if below or word == "agent" else None,
        )

    def _body(self, tree: Tree[Any], kids: list[Any], word: str) -> Block:
        self._colon(tree, kids, word)
        return self.around.body(Span(span_of(tree).start, self.around.end), word)

    def _on_if_block(self, tree: Tree[Any], kids: list[Any]) -> If:
        body = self._body(tree, kids, "if")
        condition = self.condition(span_of(kids[0]))
        parts = self.around.clauses("elif", "else")
        first = _branch(Span(span_of(tree).start, body.span.end), condition, body)
        more = [_branch(p.span, p.condition, p.block) for p in parts if p.kind == "elif" and p.condition]
        orelse = next((p.block for p in parts if p.kind == "else"), None)
        span = self._reach(tree, body, *(part.block for part in parts))
        return If(span=span, branches=(first, *more), orelse=orelse)

    def _on_elif(self, tree: Tree[Any], kids: list[Any]) -> Part:
        if kids[0].type == "ELSE_IF":
            place = span_of(kids[0])
            fix = Fix("Write `elif`", (Edit(place, "elif"),))
            self.out.warning("else-if", place, "`else if` is written `elif`", "write `elif`", fix=fix)
        body = self._body(tree, kids, "elif")
        condition = self.condition(span_of(kids[1]))
        return Part("elif", self._reach(tree, body), body, condition=condition)

    def _on_else(self, tree: Tree[Any], kids: list[Any]) -> Part:
        body = self._body(tree, kids, "else")
        return Part("else", self._reach(tree, body), body)

    def _on_choice(self, tree: Tree[Any], kids: list[Any]) -> Choice:
        self._colon(tree, kids, "choice")
        criteria = self._criteria(span_of(kids[0]))
        options = tuple(_option(part) for part in self.around.options())
        return Choice(span=self._reach(tree, *options), criteria=criteria, options=options)

    def _criteria(self, span: Span) -> Template:
        text = self.source.text[span.start : span.end]
        if strings.SINGLE.fullmatch(text) or strings.TRIPLE.fullmatch(text):
            return strings.template(self.source, span, self.out)
        stars = next((mark for mark in ("***", "**") if text.startswith(mark) and text.endswith(mark)), "")
        if stars and len(text) > 2 * len(stars):
            span = trimmed(self.source.text, Span(span.start + len(stars), span.end - len(stars)))
        return strings.bare(self.source, span, self.out)

    def _on_option(self, tree: Tree[Any], kids: list[Any]) -> Part:
        token = kids[0]
        if token.type == "STRING":
            label = strings.plain(self.source, span_of(token), self.out)
        else:
            label = " ".join(str(token).strip("*").split())
            self.out.warning(
                "unquoted-label",
                span_of(token),
                "the label of an option stands in quotes",
                f'write `option "{label}":`',
                fix=Fix("Put it in quotes", (Edit(span_of(token), f'"{label}"'),)) if '"' not in label else None,
            )
        body = self._body(tree, kids, "option")
        return Part("option", self._reach(tree, body), body, label=label)

    def _on_repeat(self, tree: Tree[Any], kids: list[Any]) -> Repeat:
        self._times(kids[1])
        var, _ = self._head_parts(kids[2:-1], "repeat", counter=True)
        body = self._body(tree, kids, "repeat")
        return Repeat(span=self._reach(tree, body), count=kids[0], body=body, var=var)

    def _on_parallel_repeat(self, tree: Tree[Any], kids: list[Any]) -> Repeat:
        self._times(kids[1])
        var, settings = self._head_parts(kids[2:-1], "parallel", counter=True)
        options = self._parallel_options(tree, settings)
        body = self._body(tree, kids, "parallel repeat")
        return Repeat(span=self._reach(tree, body), count=kids[0], body=body, var=var, parallel=options)

    def _times(self, word: Token | None) -> None:
        if word is not None:
            place = span_of(word)
            fix = Fix("Leave it out", (Edit(Span(place.start - 1, place.end), ""),))
            self.out.warning("repeat-times", place, f"`{word}` says nothing", "write `repeat N:`", fix=fix)

    def _on_for(self, tree: Tree[Any], kids: list[Any]) -> ForEach:
        _, settings = self._head_parts(kids[4:-1], "loop")
        return self._for(tree, kids, "for", maximum=_maximum(settings))

    def _on_parallel_for(self, tree: Tree[Any], kids: list[Any]) -> ForEach:
        _, settings = self._head_parts(kids[4:-1], "parallel")
        return self._for(tree, kids, "parallel for", parallel=self._parallel_options(tree, settings))

    def _for(self, tree: Tree[Any], kids: list[Any], word: str, **more: Any) -> ForEach:
        body = self._body(tree, kids, word)
        index = self.name(kids[1]) if kids[1] is not None else None
        return ForEach(
            span=self._reach(tree, body), var=self.name(kids[0]), index=index, iterable=kids[3], body=body, **more
        )

    def _on_loop(self, tree: Tree[Any], kids: list[Any]) -> Loop:
        kind: Literal["until", "while"] | None = None
        if kids[0] is not None:
            kind = "until" if kids[0].type == "UNTIL" else "while"
        return self._loop(tree, kids, kind)

    def _on_bare_loop(self, tree: Tree[Any], kids: list[Any]) -> Loop:
        place = span_of(kids[0])
        kind: Literal["until", "while"] = "until" if kids[0].type == "BARE_UNTIL" else "while"
        fix = Fix("Write `loop`", (Edit(Span(place.start, place.start), "loop "),))
        self.out.warning("bare-loop", place, f"`{kind}` stands behind `loop`", f"write `loop {kind} C:`", fix=fix)
        return self._loop(tree, kids, kind)

    def _loop(self, tree: Tree[Any], kids: list[Any], kind: Literal["until", "while"] | None) -> Loop:
        var, settings = self._head_parts(kids[2:-1], "loop", counter=True)
        condition = self.condition(span_of(kids[1])) if kids[1] is not None else None
        body = self._body(tree, kids, "loop")
        span = self._reach(tree, body)
        return Loop(span=span, body=body, kind=kind, condition=condition, maximum=_maximum(settings), var=var)

    def _on_parallel(self, tree: Tree[Any], kids: list[Any]) -> Parallel:
        _, settings = self._head_parts(kids[:-1], "parallel")
        options = self._parallel_options(tree, settings)
        body = self._body(tree, kids, "parallel")
        return Parallel(span=self._reach(tree, body), body=body, options=options)

    def _on_try(self, tree: Tree[Any], kids: list[Any]) -> Try:
        body = self._body(tree, kids, "try")
        parts = self.around.clauses("catch", "finally")
        caught = next((part for part in parts if part.kind == "catch"), None)
        final = next((part.block for part in parts if part.kind == "finally"), None)
        span = self._reach(tree, body, *(part.block for part in parts))
        return Try(span=span, body=body, catch=_catch(caught), final=final)

    def _on_catch(self, tree: Tree[Any], kids: list[Any]) -> Part:
        body = self._body(tree, kids, "catch")
        var = self.name(kids[0]) if kids[0] is not None else None
        return Part("catch", self._reach(tree, body), body, var=var)

    def _on_finally(self, tree: Tree[Any], kids: list[Any]) -> Part:
        body = self._body(tree, kids, "finally")
        return Part("finally", self._reach(tree, body), body)

    def _on_do_block(self, tree: Tree[Any], kids: list[Any]) -> Do:
        body = self._body(tree, kids, "do")
        return Do(span=self._reach(tree, body), body=body)

    def _on_stage(self, tree: Tree[Any], kids: list[Any]) -> Part:
        kind: Any = str(kids[0])
        names: tuple[Name, ...] = kids[1] or ()
        if len(names) != (2 if kind == "reduce" else 0):
            self.out.error(
                "stage-names",
                Span(names[0].span.start, names[-1].span.end) if names else span_of(kids[0]),
                f"`{kind}` takes {'two names' if kind == 'reduce' else 'no names'}",
                "write `reduce(acc, x):`; the other stages call the element `item`",
            )
        body = self._body(tree, kids, kind)
        span = self._reach(tree, body)
        stage = Stage(span=span, kind=kind, body=body, names=names)
        return Part("stage", span, body, stage=stage)

    # the brackets and counters of heads

    def _on_counter(self, tree: Tree[Any], kids: list[Any]) -> Name:
        return self.name(kids[0])

    def _on_mode(self, tree: Tree[Any], kids: list[Any]) -> Token:
        token: Token = kids[0]
        return token

    def _on_settings(self, tree: Tree[Any], kids: list[Any]) -> Settings:
        mode = next((kid for kid in kids if not isinstance(kid, Pair)), None)
        return Settings(span_of(tree), mode, tuple(kid for kid in kids if isinstance(kid, Pair)))

    def _head_parts(
        self, parts: list[Any], kind: Literal["repeat", "loop", "parallel"], *, counter: bool = False
    ) -> tuple[Name | None, Settings | None]:
        """The counter and the settings of a head; what the construct does not know is reported."""
        known = {"repeat": (), "loop": ("max",), "parallel": ("count", "on-fail", "on_fail")}[kind]
        var = next((part for part in parts if isinstance(part, Name)), None)
        if var and not counter:
            self.out.error("loop-counter", var.span, "only `repeat` and `loop` count", "write `for x, i in xs:`")
        settings = next((part for part in parts if isinstance(part, Settings)), None)
        settings = self._unbraced(settings)
        for pair in settings.pairs if settings else ():
            if pair.key not in known:
                listed = ", ".join(f"`{name}`" for name in known if name != "on_fail") or "none"
                help_ = " ".join(filter(None, (did_you_mean(pair.key, known), f"the options are: {listed}")))
                self._option_error(pair.key_span, f"`{pair.key}` is no option here", help_)
        if kind != "parallel" and settings and settings.mode is not None:
            self._option_error(span_of(settings.mode), "only `parallel` has a mode", "leave it out")
        return var, settings

    def _unbraced(self, settings: Settings | None) -> Settings | None:
        """``max: {name}`` means the value of the name: outside of strings a name needs no braces."""
        if settings is None:
            return None
        return Settings(settings.span, settings.mode, tuple(replace(p, value=self._name_in(p)) for p in settings.pairs))

    def _name_in(self, pair: Pair) -> Expr | None:
        value = pair.value
        if not isinstance(value, ObjectExpr) or len(value.entries) != 1:
            return value
        held = value.entries[0].value
        if not isinstance(held, Name) or held.span.start != value.entries[0].span.start:
            return value
        fix = Fix("Remove the braces", (Edit(value.span, held.id),))
        message = f"`{held.id}` stands in braces, which have their meaning in strings only"
        self.out.warning("braced-name", value.span, message, f"write `{pair.key}: {held.id}`", fix=fix)
        return held

    def _option_error(self, span: Span, message: str, help_: str) -> None:
        self.out.error("head-option", span, message, help_)

    def _parallel_options(self, tree: Tree[Any], settings: Settings | None) -> ParallelOptions:
        if settings is None:
            start = span_of(tree).start
            return ParallelOptions(span=Span(start, start + len("parallel")))
        mode: Any = self._word(settings.mode, MODES, "mode") or "all"
        by_key = {pair.key.replace("_", "-"): pair.value for pair in settings.pairs}
        on_fail: Any = self._word(by_key.get("on-fail"), FAILURES, "on-fail word") or "fail-fast"
        return ParallelOptions(span=settings.span, mode=mode, count=by_key.get("count"), on_fail=on_fail)

    def _word(self, given: Token | Expr | None, known: tuple[str, ...], what: str) -> str | None:
        if given is None:
            return None
        if isinstance(given, Expr):
            span, text = given.span, _spelt(given)
        else:
            span, text = span_of(given), strings.plain(self.source, span_of(given), self.out)
        if text in known:
            return text
        listed = ", ".join(f'`"{word}"`' for word in known)
        shown = text if text is not None else self.source.text[span.start : span.end]
        help_ = " ".join(filter(None, (did_you_mean(shown, known), f"write one of {listed}")))
        self._option_error(span, f"`{shown}` is no {what} of `parallel`", help_)
        return None

    # lines below a call

    def _on_item(self, tree: Tree[Any], kids: list[Any]) -> Item:
        place = span_of(tree)
        value = self.whole(kids[0]) if kids[0] is not None else self.around.value_below()
        value = value or Constant(span=Span(place.end, place.end), value=None)
        return Item(Span(place.start, max(place.end, value.span.end)), value)

    def _on_bare(self, tree: Tree[Any], kids: list[Any]) -> Expr:
        return self.whole(kids[0])


def _spelt(value: Expr) -> str | None:
    if isinstance(value, Name):
        return value.id
    if isinstance(value, Template) and len(value.parts) == 1 and isinstance(value.parts[0], str):
        return value.parts[0]
    return None


def _maximum(settings: Settings | None) -> Expr | None:
    return next((pair.value for pair in settings.pairs if pair.key == "max"), None) if settings else None


def _branch(span: Span, condition: Condition, body: Block) -> Branch:
    return Branch(span=span, condition=condition, body=body)


def _catch(part: Part | None) -> Catch | None:
    return Catch(span=part.span, body=part.block, var=part.var) if part else None


def _option(part: Part) -> Option:
    return Option(span=part.span, label=part.label, body=part.block)
