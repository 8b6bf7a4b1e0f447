"""From a file to a tree: reading it, and the parser that never raises and always gives a spec."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from prose_runtime.diagnostics import Collector, Diagnostic, Edit, Fix
from prose_runtime.errors import UnreadableFile
from prose_runtime.nodes import Agent, Block, BlockDef, Fence, Input, Instance, Section, Spec, Use, nodes_of
from prose_runtime.syntax.delegation import parse_block
from prose_runtime.syntax.frontmatter import read_frontmatter
from prose_runtime.syntax.names import JAVASCRIPT_LABELS, LOOSE_LABELS, SECTIONS
from prose_runtime.syntax.parameters import Declared, read_config, read_inputs, read_parameter
from prose_runtime.syntax.sections import Area, Outline, opening_line, programs, read_outline, two_programs
from prose_runtime.syntax.slots import distinct, read_invariants, read_returns, read_shape, read_slots
from prose_runtime.text import Source, Span

_SUFFIXES = (".prose.md", ".md", ".prose")
_JAVASCRIPT_SIGNS = ("__compositeState", "__controlState", "await ", "const ")
_LOOSE_KINDS = ("pattern", "program", "function", "responsibility", "gateway")


def read_source(path: Path | str) -> Source:
    """Read a spec file.

    Raises:
        UnreadableFile: It is missing, a folder, not permitted, or no UTF-8 text.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(str(path), "there is no such file") from None
    except IsADirectoryError:
        raise UnreadableFile(str(path), "it is a folder") from None
    except PermissionError:
        raise UnreadableFile(str(path), "permission denied") from None
    except (OSError, ValueError) as fault:
        raise UnreadableFile(str(path), getattr(fault, "strerror", None) or str(fault)) from None
    return Source(str(path), decoded(str(path), data))


def decoded(path: str, data: bytes) -> str:
    """The text of a file's bytes, without a byte order mark.

    Raises:
        UnreadableFile: They are no UTF-8 text.
    """
    if b"\0" in data:
        raise UnreadableFile(path, "it is binary data, or text that is not encoded as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UnreadableFile(path, f"it is no UTF-8 text (byte {fault.start + 1})") from None


def parse(source: Source) -> tuple[Spec, list[Diagnostic]]:
    """The tree of a file and what is wrong with it, by place. Whatever the text, there is a tree."""
    out = Collector(source)
    if not source.text.strip():
        out.error("empty-file", Span(0, 0), "this file is empty", "start it with frontmatter: name and kind")
        spec = _bare(source, "program" if source.path.endswith(".prose") else "")
    elif source.path.endswith(".prose"):
        spec = _bare(source, "program", parse_block(source, Span(0, len(source.text)), out))
        _check_definitions(spec.body, out)
        _name_dialect(source, spec.body, out)
    else:
        spec = _parse_markdown(source, out)
    return spec, out.ordered


def _name_dialect(source: Source, body: Block | None, out: Collector) -> None:
    """Say once of a ``.prose`` file how it is written today."""
    start = body.statements[0].span.start if body and body.statements else 0
    line = source.line_span(source.place(start).line)
    out.warning(
        "retired-kind",
        Span(start, max(start, line.end)),
        "a `.prose` file is a program of the oldest dialect",
        "today it is a function in a `.prose.md` file: this text in a fence labelled prose, under ### Execution",
    )


def _check_definitions(body: Block | None, out: Collector) -> None:
    """Agents, blocks, aliases and inputs are collected before anything runs: a second one of a name would be lost."""
    nodes = nodes_of(body, Agent, BlockDef, Input, Use)
    named = [node.alias if isinstance(node, Use) else node.name for node in nodes]
    distinct(((name.id, name.span) for name in named), out, "name")


def _bare(source: Source, kind: str, body: Block | None = None) -> Spec:
    name = _stem(source.path)
    whole = Span(0, len(source.text))
    return Spec(span=whole, source=source, name=name, name_span=Span(0, 0), kind=kind, frontmatter={}, body=body)


def _stem(path: str) -> str:
    name = PurePath(path).name
    suffix = next((s for s in _SUFFIXES if name.endswith(s) and name != s), "")
    return name.removesuffix(suffix) or "spec"


def _parse_markdown(source: Source, out: Collector) -> Spec:
    head = read_frontmatter(source, out)
    outline = read_outline(source, head.end, out)
    if head.kind == "program":
        outline = _program_under_heading(source, outline)
    components = tuple(_component(source, area, out) for area in outline.components)
    distinct(((c.name, c.name_span) for c in components), out, "component")
    return _spec(
        source,
        outline.main,
        out,
        span=Span(0, len(source.text)),
        name=head.name or _stem(source.path),
        name_span=head.name_span,
        kind=head.kind,
        frontmatter=head.data,
        components=components,
    )


def _program_under_heading(source: Source, outline: Outline) -> Outline:
    """An older program may stand under a heading such as ``## Program``, which is no component then."""
    main = outline.main
    if main.loose or main.all("delegation", "delegation loop", "execution"):
        return outline
    for area in outline.components:
        if not area.sections and area.loose and area.preamble == source.slice(area.loose[0].span).strip():
            main.loose += area.loose
            return Outline(main, tuple(other for other in outline.components if other is not area))
    return outline


def _component(source: Source, area: Area, out: Collector) -> Spec:
    name = source.text[area.name.start : area.name.end]
    end = area.start + len(source.text[area.start : area.end].rstrip())
    span = Span(area.start, max(end, area.name.end))
    return _spec(source, area, out, span=span, name=name, name_span=area.name, kind="function", frontmatter={})


def _spec(source: Source, area: Area, out: Collector, *, kind: str, name_span: Span, **more: Any) -> Spec:
    prose = kind in ("responsibility", "gateway")
    inputs = read_inputs(source, area.all("parameters", "requires", "inputs"), out, prose=prose)
    rows = {declared.name.text: declared for declared in inputs}
    lists = {name for name, declared in rows.items() if declared.is_list}
    sections = {key: area.first(key) for key in ("slots", "config", "invariants", "shape", "patterns")}
    slots = read_slots(source, s, lists, out) if (s := sections["slots"]) else ()
    config = read_config(source, s, _not_slots(rows, slots), out) if (s := sections["config"]) else ()
    named = [(slot.name, slot.name_span) for slot in slots] + [(item.name, item.name_span) for item in config]
    distinct(named, out, "name")
    taken = {name for name, _ in named}
    body, javascript = _program(source, area, kind, name_span, out)
    _check_definitions(body, out)
    more |= _test(source, area, out) if kind == "test" else {}
    return Spec(
        source=source,
        name_span=name_span,
        kind=kind,
        title=area.title,
        preamble=area.preamble,
        sections=tuple(area.sections),
        slots=slots,
        config=config,
        parameters=tuple(read_parameter(d, out) for d in inputs if d.name.text not in taken),
        returns=read_returns(source, area.all("returns", "ensures", "maintains"), out),
        invariants=read_invariants(source, s) if (s := sections["invariants"]) else (),
        shape=read_shape(source, s, slots, out) if (s := sections["shape"]) else None,
        instances=_instances(source, s, out) if (s := sections["patterns"]) else (),
        body=body,
        javascript=javascript,
        **more,
    )


def _instances(source: Source, section: Section, out: Collector) -> tuple[Instance, ...]:
    from prose_runtime.syntax.instances import read_instances  # few specs have any, and YAML takes time to load

    return read_instances(source, section, out)


def _test(source: Source, area: Area, out: Collector) -> dict[str, Any]:
    from prose_runtime.syntax.fixtures import read_expectations, read_fixtures

    fixtures = area.first("fixtures")
    found = [
        expectation
        for section in area.all("expects", "expects not")
        for expectation in read_expectations(source, section, out, negated=section.key == "expects not")
    ]
    return {"fixtures": read_fixtures(source, fixtures, out) if fixtures else (), "expectations": tuple(found)}


def _not_slots(rows: Mapping[str, Declared], slots: tuple[Any, ...]) -> dict[str, Declared]:
    names = {slot.name for slot in slots}
    return {name: declared for name, declared in rows.items() if name not in names}


def _program(
    source: Source, area: Area, kind: str, name_span: Span, out: Collector
) -> tuple[Block | None, Fence | None]:
    """The program of Delegation or Execution, or the loop of a composite."""
    order = ("delegation", "delegation loop", "execution")
    sections = area.all(*order)
    if kind not in ("pattern", "composite"):
        order = ("execution", "delegation", "delegation loop")
    sections.sort(key=lambda section: order.index(section.key))
    if not sections:
        loose = _loose_program(source, area, kind, out)
        if loose is not None:
            return loose, None
        if kind in ("pattern", "composite"):
            message = f"this {kind} has no Delegation, so there is nothing to run"
            out.error("missing-delegation", name_span, message, "add ### Delegation with a fence labelled prose")
        return None, None
    for other in sections[1:]:
        message = f"{other.title} is not run, because {sections[0].title} is"
        out.warning("two-programs", other.title_span, message, "keep one of the two")
    return _section_program(source, sections[0], kind, out)


def _loose_program(source: Source, area: Area, kind: str, out: Collector) -> Block | None:
    """A program that stands in a section without meaning, or in none.

    In a pattern or an older program it cannot be anything else. Beside a function's text it may be an example.
    """
    documents = [fence for section in area.sections if section.key not in SECTIONS for fence in section.fences]
    fences = [fence for fence in [*area.loose, *documents] if fence.label in LOOSE_LABELS]
    if not fences or kind not in _LOOSE_KINDS:
        return None
    place = opening_line(source, fences[0])
    heading = "Delegation" if kind == "pattern" else "Execution"
    if kind not in ("pattern", "program") and area.preamble != source.slice(fences[0].span).strip():
        message = "this program is not run: it is part of the text that a model is told"
        out.warning("loose-program", place, message, f"write `### {heading}` above its fence if it is to run")
        return None
    if len(fences) > 1:
        two_programs(source, "this file", fences, out)
    edit = Edit(Span(place.start, place.start), f"### {heading}\n\n")
    below_component = "\n## " in source.text[: place.start]
    fix = None if below_component else Fix(f"Add the heading {heading}", (edit,))
    message = "this program stands in no section of its own"
    out.warning("loose-program", place, message, f"write `### {heading}` above its fence", fix=fix)
    return _fence_program(source, fences[0], "this file", out)


def _section_program(source: Source, section: Section, kind: str, out: Collector) -> tuple[Block | None, Fence | None]:
    fences = programs(section)
    if not fences:
        help_line = "write the program in a fence: ```prose, its lines, ```"
        if section.fences:
            help_line = f"label the fence prose, not {section.fences[0].label}"
        out.error("empty-delegation", section.title_span, f"the section {section.title} has no program", help_line)
        return None, None
    fence = fences[0]
    text = source.text[fence.content.start : fence.content.end]
    if fence.label in JAVASCRIPT_LABELS or (kind == "composite" and any(sign in text for sign in _JAVASCRIPT_SIGNS)):
        return None, fence
    return _fence_program(source, fence, section.title, out), None


def _fence_program(source: Source, fence: Fence, where: str, out: Collector) -> Block | None:
    text = source.text[fence.content.start : fence.content.end]
    if all(line.strip().startswith("#") for line in text.split("\n") if line.strip()):
        place = opening_line(source, fence)
        out.error("empty-delegation", place, f"the program of {where} is empty", "write at least one statement")
        return None
    return parse_block(source, fence.content, out)
