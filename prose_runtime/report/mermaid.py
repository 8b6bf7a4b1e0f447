"""``prose show SPEC --diagram``: a program as a sequence diagram in Mermaid's language (DESIGN.md section 4).

Roles are participants. Constructs in which nobody is called and nothing ends are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from prose_runtime import nodes as n
from prose_runtime.check.tables import Analysis

_LONGEST = 60
"""Characters of the program that are shown at one place."""

_ENTITIES = {"#": "#35;", ";": "#59;", "%": "#37;", "<": "#lt;", ">": "#gt;", '"': "#quot;"}
_TELLING = (n.Call, n.Session, n.Ask, n.Effect, n.DoBlock, n.Return, n.Throw, n.Break, n.Continue)
_ME = "run"


def diagram(analysis: Analysis) -> str:
    """The diagram of a spec, with a line break at its end."""
    return "\n".join(_Drawing(analysis).lines()) + "\n"


class _Drawing:
    """Draws one program. ``depth`` is how deep the current line lies in constructs."""

    def __init__(self, analysis: Analysis):
        self.analysis = analysis
        self.spec = analysis.spec
        self.ids: dict[str, str] = {}
        self.drawn: list[str] = []
        self.depth = 1
        self.active: list[str] = []
        body = self.spec.body.statements if self.spec.body else ()
        self.blocks = {node.name.id: node for node in body if isinstance(node, n.BlockDef)}
        self.lists = {slot.name for slot in self.spec.slots if slot.is_list}

    def lines(self) -> list[str]:
        for slot in self.spec.slots:
            self.participant(slot.name)
        if self.spec.body is not None:
            self.visit(self.spec.body)
        elif self.spec.javascript is not None:
            self.note("JavaScript decides who is called")
        else:
            self.exchange("session", ", ".join(self.analysis.inputs), "the result")
        heads = [f"  participant {_ME} as {_safe(self.spec.name)}"]
        for name, number in self.ids.items():
            shown = f"{name} (several)" if name in self.lists else name
            heads.append(f"  participant {number} as {_safe(shown)}")
        return ["sequenceDiagram", *heads, *self.drawn]

    # lines

    def line(self, text: str) -> None:
        self.drawn.append("  " * self.depth + text)

    def note(self, text: str) -> None:
        self.line(f"Note over {_ME}: {_safe(text)}")

    def participant(self, name: str) -> str:
        return self.ids.setdefault(name, f"p{len(self.ids) + 1}")

    def exchange(self, name: str, told: str, given: str) -> None:
        """A call and its answer."""
        who = self.participant(name)
        self.line(f"{_ME}->>{who}: {_safe(told) or 'call'}")
        self.line(f"{who}-->>{_ME}: {_safe(given)}")

    def framed(self, parts: list[tuple[str, n.Node | None]]) -> None:
        """A frame with its parts, each under a heading: ``alt``, ``else``, ``end``."""
        for heading, body in parts:
            self.line(heading.rstrip())
            self.depth += 1
            if body is not None:
                self.visit(body)
            self.depth -= 1
        self.line("end")

    def said(self, node: n.Node | None) -> str:
        """The program's own text, on one line."""
        return _safe(self.spec.source.slice(node.span)) if node is not None else ""

    # nodes

    def visit(self, node: n.Node) -> None:
        """Draw a node and what is in it, in order."""
        draw = self.DRAW.get(type(node))
        if draw is not None and any(isinstance(part, _TELLING) for part in node.walk()):
            draw(self, node)
        elif not isinstance(node, n.BlockDef | n.Agent):
            for child in node.children():
                self.visit(child)

    def bind(self, node: n.Bind) -> None:
        if isinstance(node.value, n.Call | n.Session | n.Ask | n.Effect):
            self.asks(node.value, self.spec.source.slice(node.target.span))
        else:
            self.visit(node.value)

    def asks(self, node: n.Call | n.Session | n.Ask | n.Effect, given: str = "answer") -> None:
        """Somebody is asked, after the calls among what he is told."""
        for argument in node.args:
            self.visit(argument.value)
        target = self.analysis.targets.get(node)
        if target is not None and target.kind == "block":
            self.inline(target.name)
            return
        told = ", ".join(argument.name or self.said(argument.value) for argument in node.args)
        if isinstance(node, n.Call):
            name = target.name if target is not None else self.spec.source.slice(node.target.span)
            if target is not None and target.kind == "reference":
                name = target.slot.name if target.slot is not None else name
        elif isinstance(node, n.Session):
            name, told = node.agent.id if node.agent else "session", told or self.said(node.prompt)
        else:
            name = "person" if isinstance(node, n.Ask) else node.name
        self.exchange(name, told, given)

    def do_block(self, node: n.DoBlock) -> None:
        for argument in node.args:
            self.visit(argument.value)
        self.inline(node.block.id)

    def inline(self, name: str) -> None:
        """What a block does, where it is called."""
        definition = self.blocks.get(name)
        if definition is None or name in self.active:
            self.note(f"{name} again")
            return
        self.active.append(name)
        self.line("rect rgba(128, 128, 128, 0.1)")
        self.depth += 1
        self.note(name)
        self.visit(definition.body)
        self.depth -= 1
        self.line("end")
        self.active.pop()

    def if_(self, node: n.If) -> None:
        """``if``: one that only leaves has the leaving inside."""
        parts: list[tuple[str, n.Node | None]] = []
        for branch in node.branches:
            parts.append((f"{'else' if parts else 'alt'} {self.said(branch.condition)}", branch.body))
        if node.orelse is not None:
            parts.append(("else otherwise", node.orelse))
        elif len(parts) == 1:
            parts = [(f"opt {self.said(node.branches[0].condition)}", node.branches[0].body)]
        for branch in node.branches:
            self.visit(branch.condition)
        self.framed(parts)

    def conditional(self, node: n.Conditional) -> None:
        self.framed([(f"alt {self.said(node.condition)}", node.then), ("else otherwise", node.orelse)])

    def choice(self, node: n.Choice) -> None:
        words = [f"{self.said(node.criteria)}: {_safe(option.label)}" for option in node.options]
        bodies = [option.body for option in node.options]
        self.framed([(f"{'else' if at else 'alt'} {words[at]}", body) for at, body in enumerate(bodies)])

    def repeat(self, node: n.Repeat) -> None:
        self.passes(f"{self.said(node.count)} times", node.parallel, node.body)

    def for_each(self, node: n.ForEach) -> None:
        self.visit(node.iterable)
        most = f", at most {self.said(node.maximum)}" if node.maximum is not None else ""
        self.passes(f"each {node.var.id} in {self.said(node.iterable)}{most}", node.parallel, node.body)

    def passes(self, text: str, parallel: n.ParallelOptions | None, body: n.Block) -> None:
        word = "loop" if parallel is None else "par"
        self.framed([(f"{word} {text}{'' if parallel is None else f' at once{_options(parallel)}'}", body)])

    def loop(self, node: n.Loop) -> None:
        words = [f"{node.kind} {self.said(node.condition)}"] if node.kind else []
        words += [f"at most {self.said(node.maximum)} times"] if node.maximum is not None else []
        self.framed([(f"loop {', '.join(words)}", node.body)])

    def parallel(self, node: n.Parallel) -> None:
        branches = node.body.statements
        heads = [f"par at once{_options(node.options)}", *["and"] * (len(branches) - 1)]
        self.framed(list(zip(heads, branches, strict=True)))

    def pipeline(self, node: n.Pipeline) -> None:
        self.visit(node.source)
        for stage in node.stages:
            if any(isinstance(part, _TELLING) for part in stage.body.walk()):
                word = "par" if stage.kind == "pmap" else "loop"
                self.framed([(f"{word} {stage.kind} over {self.said(node.source)}", stage.body)])

    def try_(self, node: n.Try) -> None:
        parts: list[tuple[str, n.Node | None]] = [("critical try", node.body)]
        if node.catch is not None:
            parts.append(("option a failure", node.catch.body))
        self.framed(parts)
        if node.final is not None:
            self.visit(node.final)

    def ends(self, node: n.Return | n.Throw | n.Break | n.Continue) -> None:
        value = node.value if isinstance(node, n.Return | n.Throw) else None
        if value is not None:
            self.visit(value)
        self.note(self.spec.source.slice(node.span))

    DRAW: ClassVar[dict[type[Any], Callable[[Any, Any], None]]] = {
        n.Bind: bind,
        n.Call: asks,
        n.Session: asks,
        n.Ask: asks,
        n.Effect: asks,
        n.DoBlock: do_block,
        n.If: if_,
        n.Conditional: conditional,
        n.Choice: choice,
        n.Repeat: repeat,
        n.ForEach: for_each,
        n.Loop: loop,
        n.Parallel: parallel,
        n.Pipeline: pipeline,
        n.Try: try_,
        n.Return: ends,
        n.Throw: ends,
        n.Break: ends,
        n.Continue: ends,
    }


def _options(options: n.ParallelOptions) -> str:
    words = {"all": "", "first": ", until the first succeeds", "any": ", until enough succeed"}
    return words[options.mode]


def _safe(text: str) -> str:
    """A text that means nothing in Mermaid's language, on one line and not too long."""
    line = " ".join(text.split())
    short = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
    return "".join(_escaped(short))


def _escaped(text: str) -> Iterator[str]:
    for letter in text:
        yield _ENTITIES.get(letter, letter)
