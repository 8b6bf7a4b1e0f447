"""Programs as hypothesis makes them: trees of all kinds of node, each such as the parser can make it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from prose_runtime import nodes as n
from prose_runtime.diagnostics import Collector
from prose_runtime.syntax import conditions, strings
from prose_runtime.syntax.format import print_expression
from prose_runtime.text import NOWHERE, Source, Span

NAMES = (
    "a b x quality-bar item_2 to with has set at each as empty by least max "
    "call emit loop option record parallel session group try do block choice for repeat append throw"
).split()
WORDS = [*NAMES, "if", "or", "in", "is", "null", "else", "return"]
ODD_KEYS = ["b c", "", 'say "x"', "{a}", "{{a}}", "1", "a\nb"]
KEYS = [*(word for word in WORDS if word not in ("model", "backoff")), *ODD_KEYS]
AGENT = ("context", "prompt", "retry")
FUNCTIONS = "len join max json group keys trim".split()
OPERATORS = "+ - * / % == != < <= > >= and or in".split()
STATES = ("present", "absent", "null", "empty", "true", "false")
QUESTIONS = (
    "what is best",
    "is it (good",
    'does it say "no',
    "is #3 done",
    "a ** b",
    "[x] {y} or else z",
    "and now: what",
)
ENGLISH = (
    "the critic accepts", "decision says abort", "leave does not explicitly proceed", "it's over: finally",
    'the text says "no  more" or less', "done and dusted", "(a b c and d e f) or x", "one, two and three four",
    'x is "a" or "b"', "a", "not a", "issue 3 is (nearly) done", "x contains \"**\"",
)  # fmt: skip
MARKED = (
    "**it is fine**", "***all of it***", "**a and b** or c", "it says **and** twice", "score is **high**",
    "**is #3 done (or not** and x", "a, **b c**, and d e", '**x is "a  b"**', "**treated as done**", "**(max: 3)**",
    "**one: two**",
)  # fmt: skip
TEXT = st.text(st.sampled_from(list("ab {}\"'\\$\n\t#:*é|=-.[]0n")), max_size=8)
PATHS = ("a", "a.b", "x.y-z.item_2", "quality-bar")


def at(kind: type[Any], /, **fields: Any) -> Any:
    """A node without a place."""
    spans = {place: NOWHERE for place in ("span", "name_span") if place in kind.__dataclass_fields__}
    return kind(**spans | fields)


def name(word: str) -> n.Name:
    return at(n.Name, id=word)


names = st.sampled_from(NAMES).map(name)
optional_names = st.none() | names


def read_condition(text: str) -> n.Condition:
    source = Source("", text)
    return conditions.read(source, Span(0, len(text)), Collector(source))


# text


def interpolation(path: str) -> n.Interpolation:
    return strings.interpolation(f"{{{path}}}", Span(0, len(path) + 2))


@st.composite
def templates(draw: Any, triples: bool = True) -> n.Template:
    pieces = draw(
        st.lists(
            TEXT | st.sampled_from(["{a_", "}", "{", "{{"]) | st.sampled_from(PATHS).map(interpolation), max_size=4
        )
    )
    parts: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str) and parts and isinstance(parts[-1], str):
            parts[-1] += piece
        elif piece != "":
            # A dollar sign makes text of the braces behind it.
            if not isinstance(piece, str) and parts and isinstance(parts[-1], str):
                parts[-1] += "." if parts[-1].endswith("$") else ""
            parts.append(piece)
    return at(n.Template, parts=tuple(parts), triple=triples and draw(st.booleans()))


# expressions


constants = st.sampled_from([None, True, False, 0, 7, 0.5, 1e-7, 1e22, 10**30]).map(lambda v: at(n.Constant, value=v))
discretions = st.sampled_from(QUESTIONS).map(lambda text: at(n.Discretion, text=text))
MADE = ("research_{a}", "x{a.b}y", "n-{b}{a}_1")
EFFECTS = (
    ("escalate", "topic to the owner"),
    ("apply", 'the "patch" of {x} (now)'),
    ("revert", "what was changed: all"),
)


def made_name(text: str) -> n.MadeName:
    return strings.made_name(Source("", text), Span(0, len(text)))


made_names = st.sampled_from(MADE).map(made_name)
leaves = names | constants | templates() | discretions | made_names


@cache
def expressions(depth: int) -> st.SearchStrategy[Any]:
    """Expressions that stand on one line."""
    if depth == 0:
        return leaves
    e = st.deferred(lambda: expressions(depth - 1))
    few = st.lists(e, max_size=3).map(tuple)
    return st.one_of(
        leaves,
        st.builds(lambda o, w: at(n.Field, object=o, name=w), e, st.sampled_from(WORDS)),
        st.builds(lambda o, i: at(n.Index, object=o, index=i), e, e),
        st.builds(lambda items: at(n.ListExpr, items=items), few),
        objects(e),
        st.builds(lambda op, x: at(n.Unary, op=op, operand=x), st.sampled_from(["not", "-"]), e),
        st.builds(lambda op, x, y: at(n.Binary, op=op, left=x, right=y), st.sampled_from(OPERATORS), e, e),
        st.builds(lambda c, x, y: at(n.Conditional, condition=c, then=x, orelse=y), inline_conditions(), e, e),
        predicates(e),
        st.builds(lambda f, args: at(n.FunctionCall, name=f, args=args), st.sampled_from(FUNCTIONS), few),
        st.builds(
            lambda s, f: at(n.Group, source=s, field=f), names | names.map(_call_of_keys), st.sampled_from(WORDS)
        ),
        calls(depth - 1),
    )


def _call_of_keys(of: n.Name) -> n.FunctionCall:
    return at(n.FunctionCall, name="keys", args=(of,))


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    entry = st.builds(lambda k, v: at(n.Entry, key=k, value=v), st.sampled_from(KEYS), values) | names.map(
        lambda v: at(n.Entry, key=v.id, value=v)
    )
    return st.lists(entry, max_size=3).map(lambda found: at(n.ObjectExpr, entries=tuple(found)))


@st.composite
def predicates(draw: Any, e: Any) -> n.Predicate:
    op = draw(st.sampled_from([*STATES, "is", "has", "contains", "meets", "exceeds", "at_most"]))
    operand = None if op in STATES else draw(e)
    return at(n.Predicate, subject=draw(e), op=op, operand=operand, negated=draw(st.booleans()))


def inline_conditions() -> st.SearchStrategy[n.Condition]:
    """Conditions that can stand between ``if`` and ``else``."""
    texts = [text for text in ENGLISH + MARKED if "(or not" not in text] + ["a if b else c", "f([1], {a})"]
    return st.sampled_from(texts).map(read_condition)


@cache
def all_conditions(depth: int) -> st.SearchStrategy[n.Condition]:
    printed = expressions(depth).map(print_expression)
    return (st.sampled_from(ENGLISH + MARKED) | printed).map(read_condition)


# calls


@st.composite
def arguments(draw: Any, values: Any, positional: bool = True, known: Any = KEYS) -> tuple[n.Argument, ...]:
    keys = st.sampled_from(known)
    found = draw(st.lists(st.tuples(st.none() | keys if positional else keys, values), max_size=3))
    return tuple(n.Argument(span=NOWHERE, name=k, name_span=None, value=v) for k, v in found)


@st.composite
def paths(draw: Any, made: bool = False) -> n.Expr:
    """A name with fields and indexes: what can be called or assigned to."""
    path: n.Expr = draw(names | names | made_names) if made else draw(names)
    for step in draw(st.lists(st.sampled_from(WORDS) | expressions(0), max_size=2)):
        path = at(n.Field, object=path, name=step) if isinstance(step, str) else at(n.Index, object=path, index=step)
    return path


def keys_of(head: Any) -> Sequence[str]:
    """The inputs of a call have any name; of a session's, an agent's and a question's properties these hold values."""
    if isinstance(head, n.Ask):
        return ("context", "prompt")
    return ("context", "prompt", "retry") if isinstance(head, n.Session) else KEYS


@st.composite
def heads(draw: Any, depth: int) -> n.Expr:
    """A call, session or ``do`` without its inputs."""
    kind = draw(st.sampled_from(["call", "call", "prompt", "agent", "named", "resume", "do", "ask"]))
    if kind == "ask":
        return at(n.Ask, prompt=draw(templates()))
    if kind == "call":
        return at(n.Call, target=draw(paths()))
    if kind == "do":
        return at(n.DoBlock, block=draw(names))
    if kind == "prompt":
        return at(n.Session, prompt=draw(templates()))
    named = name(draw(st.sampled_from(WORDS))) if kind == "named" else None
    return at(n.Session, agent=draw(names), name=named, resume=kind == "resume")


def with_fields(node: Any, **fields: Any) -> Any:
    own = {field: getattr(node, field) for field in node.__dataclass_fields__}
    return type(node)(**own | fields)


@st.composite
def calls(draw: Any, depth: int) -> n.Expr:
    """A call inside an expression: all its inputs stand on the line."""
    head = draw(heads(depth))
    if isinstance(head, n.Call) and draw(st.integers(0, 3)) == 0:
        spread = draw(expressions(depth).filter(lambda e: not isinstance(e, n.ObjectExpr)))
        return with_fields(head, spread=spread)
    return with_fields(head, args=draw(arguments(expressions(depth), known=keys_of(head))))


@st.composite
def line_calls(draw: Any, depth: int) -> n.Expr:
    """A call that is all of its line: inputs below it may be anything that takes lines itself."""
    head = draw(heads(depth))
    beside = draw(arguments(leaves, known=keys_of(head)))
    if beside and beside[-1].name is not None:
        beside = ()
    below = draw(arguments(entries(depth - 1), positional=False, known=keys_of(head)))
    if isinstance(head, n.Call) and not beside and draw(st.integers(0, 3)) == 0:
        return with_fields(head, spread=draw(leaves), args=below)
    return with_fields(head, args=beside + below)


# what takes lines


@cache
def values(depth: int) -> st.SearchStrategy[Any]:
    """What may be assigned, returned or shown."""
    if depth <= 0:
        return expressions(0)
    return st.one_of(expressions(2), line_calls(depth), constructs(depth - 1), pipelines(depth - 1))


@cache
def entries(depth: int) -> st.SearchStrategy[Any]:
    """What may stand behind ``name:`` below a call. A clause such as ``else:`` would be a name there."""
    if depth <= 0:
        return expressions(1)
    alone = values(depth).filter(lambda v: not _has_clauses(v))
    lists = st.lists(alone, min_size=1, max_size=2).map(lambda items: at(n.ListExpr, items=tuple(items)))
    return st.one_of(alone, lists, objects(st.deferred(lambda: entries(depth - 1))))


def _has_clauses(value: Any) -> bool:
    if isinstance(value, n.Pipeline):
        return _has_clauses(value.source)
    return (isinstance(value, n.If) and (value.orelse is not None or len(value.branches) > 1)) or (
        isinstance(value, n.Try) and (value.catch is not None or value.final is not None)
    )


@cache
def blocks(depth: int) -> st.SearchStrategy[n.Block]:
    return st.lists(statements(depth), min_size=1, max_size=2 if depth else 1).map(
        lambda found: at(n.Block, statements=tuple(found))
    )


@st.composite
def constructs(draw: Any, depth: int) -> n.Expr:
    body = blocks(depth)
    maybe_body = st.none() | body
    simple = expressions(1)
    kind = draw(st.sampled_from(["if", "choice", "repeat", "for", "loop", "parallel", "do", "try"]))
    if kind == "if":
        branch = st.builds(lambda c, b: at(n.Branch, condition=c, body=b), all_conditions(1), body)
        return at(n.If, branches=tuple(draw(st.lists(branch, min_size=1, max_size=2))), orelse=draw(maybe_body))
    if kind == "choice":
        option = st.builds(lambda t, b: at(n.Option, label=t, body=b), TEXT, body)
        return at(n.Choice, criteria=draw(templates()), options=tuple(draw(st.lists(option, min_size=1, max_size=2))))
    if kind == "repeat":
        parallel = draw(st.none() | options())
        return at(n.Repeat, count=draw(simple), body=draw(body), var=draw(optional_names), parallel=parallel)
    if kind == "for":
        parallel = draw(st.none() | options())
        maximum = draw(st.none() | simple) if parallel is None else None
        return at(
            n.ForEach, var=draw(names), iterable=draw(simple), body=draw(body), index=draw(optional_names),
            maximum=maximum, parallel=parallel,
        )  # fmt: skip
    if kind == "loop":
        word = draw(st.sampled_from([None, "until", "while"]))
        condition = draw(all_conditions(1)) if word else None
        # Behind a condition the bound has to be found by its parentheses.
        bound = names | constants | names.map(_call_of_keys) if word else simple
        return at(
            n.Loop, body=draw(body), kind=word, condition=condition, maximum=draw(st.none() | bound),
            var=draw(optional_names),
        )  # fmt: skip
    if kind == "parallel":
        return at(n.Parallel, body=draw(body), options=draw(options()))
    if kind == "do":
        return at(n.Do, body=draw(body))
    catch = st.builds(lambda b, v: at(n.Catch, body=b, var=v), body, optional_names)
    return at(n.Try, body=draw(body), catch=draw(st.none() | catch), final=draw(maybe_body))


def options() -> st.SearchStrategy[n.ParallelOptions]:
    return st.builds(
        lambda m, c, f: at(n.ParallelOptions, mode=m, count=c, on_fail=f),
        st.sampled_from(["all", "first", "any"]),
        st.none() | expressions(0),
        st.sampled_from(["fail-fast", "continue", "ignore"]),
    )


@st.composite
def pipelines(draw: Any, depth: int) -> n.Pipeline:
    def stage(kind: str, body: n.Block, acc: n.Name, x: n.Name) -> n.Stage:
        return at(n.Stage, kind=kind, body=body, names=(acc, x) if kind == "reduce" else ())

    made = st.builds(stage, st.sampled_from(["map", "pmap", "filter", "reduce"]), blocks(depth), names, names)
    source = draw(expressions(1) | line_calls(depth) | constructs(depth))
    return at(n.Pipeline, source=source, stages=tuple(draw(st.lists(made, min_size=1, max_size=2))))


# statements


@st.composite
def binds(draw: Any, depth: int) -> n.Bind:
    keyword = draw(st.sampled_from([None, "let", "const"]))
    target: Any = draw(paths(made=True))
    if draw(st.integers(0, 4)) == 0:
        target = at(n.Destructure, names=tuple(draw(st.lists(names, min_size=1, max_size=3))))
    value = draw(values(depth))
    if draw(st.integers(0, 9)) == 0 and depth > 0:
        outer = draw(pipelines(0))
        value = with_fields(outer, source=draw(pipelines(0)))
    return at(n.Bind, keyword=keyword, target=target, value=value)


@cache
def definitions(depth: int) -> st.SearchStrategy[Any]:
    plain = st.one_of(
        st.builds(lambda a, args: at(n.Agent, name=a, args=args), names, arguments(entries(0), False, AGENT)),
        st.builds(lambda i, t: at(n.Input, name=i, text=t), names, TEXT),
        st.builds(
            lambda r, a: at(n.Use, reference=r, alias=name(a)), TEXT, st.sampled_from([*NAMES, "", "two words", "if"])
        ),
    )
    params = st.lists(names, max_size=2).map(tuple)
    if depth <= 0:
        return plain
    return plain | st.builds(
        lambda b, given, body: at(n.BlockDef, name=b, params=given, body=body), names, params, blocks(depth - 1)
    )


@st.composite
def appends(draw: Any) -> n.Append:
    word = draw(st.sampled_from(["record", "append", "add"]))
    note = draw(st.none() | expressions(1)) if word == "add" else None
    return at(n.Append, word=word, value=draw(expressions(2)), target=draw(expressions(1)), note=note)


@cache
def acts(depth: int) -> st.SearchStrategy[Any]:
    """Gates, which ask a person, and effects, which are told in words."""
    below = arguments(entries(depth - 1), False, ("context", "prompt"))
    ask = st.builds(lambda t, args: at(n.Ask, prompt=t, gate=True, args=args), st.none() | templates(), below)
    return st.builds(lambda g, a: at(n.Bind, keyword="let", target=g, value=a), names, ask) | st.builds(
        lambda e, args: at(n.ExprStatement, value=at(n.Effect, name=e[0], text=e[1], args=args)),
        st.sampled_from(EFFECTS),
        arguments(expressions(1), False, ("context", "prompt")),
    )


@cache
def statements(depth: int) -> st.SearchStrategy[Any]:
    v = values(depth)
    return st.one_of(
        acts(depth),
        binds(depth),
        appends(),
        v.map(lambda value: at(n.ExprStatement, value=value)),
        st.builds(lambda kind, value: at(kind, value=value), st.sampled_from([n.Emit, n.Return, n.Throw]), v),
        st.sampled_from([at(n.Return), at(n.Throw), at(n.Break), at(n.Continue)]),
        expressions(1).map(lambda seconds: at(n.Sleep, seconds=seconds)),
        st.builds(lambda o, value: at(n.Output, name=o, value=value), names, v),
        definitions(depth),
    )
