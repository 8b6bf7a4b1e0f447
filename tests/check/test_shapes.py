"""What programs demand of their calls: fields, lists, numbers, and what is read on every path.

A demand is written ``{score!:number why! note accepted?}*``: ``!`` read on every path, ``?`` only mentioned by
conditions, ``*`` also used whole, ``[...]`` a list; a leaf shows nothing.
"""

import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prose_runtime.check.collect import collected
from prose_runtime.check.project import Project
from prose_runtime.check.resolve import resolve
from prose_runtime.check.shapes import declared, schema, shapes, with_declared
from prose_runtime.check.tables import Demand
from prose_runtime.nodes import Call, Discretion, DoBlock, Field, Name, OutputDecl, Promise, Returns, Session, Slot
from prose_runtime.syntax.parse import parse
from prose_runtime.text import Source, Span

HERE = Span(0, 0)
HEAD = """---
name: trial
kind: pattern
---

### Slots

- `a`
- `b`
- `c`
- `members`

### Config

- `rounds` (integer, default: 2): how many
- `threshold` (number, default: 0.8): good enough

### Parameters

- Pattern instance receives:
    a: string
    b: string
    c: string
    members: string[]
    topic: string
    xs: string[]

### Delegation

```prose
"""
COMPONENTS = """
## scribe

### Parameters

- `topic`: what to write on

### Returns

- `draft`: the text

## editor

### Parameters

- `draft`: the text

### Returns

- `accepted`: whether it will do
- `notes`: what to change
"""


def analysed(body):
    """The spec with this body, and what it demands."""
    text = HEAD + textwrap.dedent(body).strip("\n") + "\n```\n" + COMPONENTS
    source = Source("trial.prose.md", text)
    spec, diagnostics = parse(source)
    assert [d.message for d in diagnostics if d.severity == "error"] == []
    project = Project(Path("nowhere"), deep=False)
    scopes = project.scopes(spec)
    targets = resolve(scopes, project).targets
    return spec, shapes(spec, scopes.inputs, targets, collected(spec))


def shown(demand, inside=False):
    mark = "*" if demand.whole and not inside else ""
    if demand.keyed:
        return "keys" + mark
    if demand.fields:
        parts = []
        for name, part in demand.fields.items():
            sign = "!" if name in demand.required else "?" if name in demand.mentioned else ""
            more = shown(part, inside=True)
            parts.append(name + sign + (f":{more}" if more else ""))
        return "{" + " ".join(parts) + "}" + mark
    if demand.items is not None:
        return f"[{shown(demand.items, inside=True)}]" + mark
    return "number" + mark if demand.number else mark


def named(node):
    if isinstance(node, Call):
        return node.target.id
    return node.block.id if isinstance(node, DoBlock) else "session" if isinstance(node, Session) else "question"


def demands(body):
    """The demands by target; the calls of one target are told apart by their order."""
    spec, found = analysed(body)
    order = [node for node in spec.body.walk() if isinstance(node, Call | DoBlock | Session | Discretion)]
    result = {}
    for node in order:
        name = named(node)
        while name in result:
            name += "'"
        result[name] = shown(found.demands[node])
    return result


PROGRAMS = {
    "nothing reads": ("call a", {"a": ""}),
    "returned": ("let v = call a\nreturn v", {"a": "*"}),
    "passed and interpolated": ('let v = call a\nemit "so {v}"\nlet w = call b\n  v: v', {"a": "*", "b": ""}),
    "fields on every path": (
        "let v = call a\nreturn { result: v.score + 1, why: v.why }",
        {"a": "{score!:number why!}"},
    ),
    "a field and the whole": ("let v = call a\nemit v.why\nreturn v", {"a": "{why!}*"}),
    "fields of fields": ("let v = call a\nreturn v.plan.title", {"a": "{plan!:{title!}}"}),
    "another name for it": ("let v = call a\nlet w = v\nreturn w.x", {"a": "{x!}"}),
    "destructured": ("let { x, y } = call a\nreturn x", {"a": "{x! y!}"}),
    "fields spelled as text": ('let v = call a\nreturn v["x"]', {"a": "{x!}"}),
    "through an object": ("let o = { first: call a }\nreturn o.first.x", {"a": "{x!}"}),
    "a whole object": ("let v = call a\nreturn { v }", {"a": "*"}),
    "one branch of two": ("let v = call a\nif xs.length > 1:\n  return v.x\nreturn v.y", {"a": "{x y}"}),
    "both branches": (
        "let v = call a\nif xs.length > 1:\n  return v.x\nelse:\n  return v.x + v.y",
        {"a": "{x!:number y:number}"},
    ),
    "before a return that may come": (
        "let v = call a\nlet w = v.x\nif topic is absent:\n  return 1\nreturn v.y + w",
        {"a": "{x!:number y:number}"},
    ),
    "a throw may come": ('let v = call a\nif v.bad:\n  throw "no"\nreturn v.x', {"a": "{bad? x}"}),
    "only in a condition": (
        "let v = call a\nif v.ok and v.score > 3:\n  return 1\nreturn 2",
        {"a": "{ok? score?:number}"},
    ),
    "compared and used": ("let v = call a\nif v.score > 3:\n  return v.score\nreturn 0", {"a": "{score!:number}"}),
    "asked for before it is used": ("let v = call a\nif v.notes:\n  return v.notes\nreturn 0", {"a": "{notes}"}),
    "presence": ("let v = call a\nif v.notes is present:\n  return 1\nreturn v", {"a": "{notes?}*"}),
    "has": ("let v = call a\nif v has errors:\n  return 1\nreturn v", {"a": "{errors?}*"}),
    "a bare number": (
        "let score = call a\nif score meets threshold:\n  return 1\nreturn score",
        {"a": "number*"},
    ),
    "English": (
        "let v = call a\nif v accepted:\n  return 1\nreturn v.notes",
        {"a": "{accepted? notes}"},
    ),
    "what it says": ("let decision = call a\nif decision says abort:\n  return 1\nreturn 2", {"a": "{decision?}"}),
    "English about a field asks nothing of it": (
        "let v = call a\nlet d = v.decision\nif d says abort:\n  return 1\nreturn d",
        {"a": "{decision!}"},
    ),
    "a judge sees the whole": (
        "let v = call a\nif the tone of v would calm a reader:\n  return 1\nreturn v.x",
        {"a": "{x}*"},
    ),
    "a condition that is the name": ("let v = call a\nif **v**:\n  return v.x\nreturn 0", {"a": "{x}"}),
    "either of two": (
        "let v = call a\nlet w = call b\nlet u = v or w\nreturn u.x",
        {"a": "{x}", "b": "{x}"},
    ),
    "conditional": (
        "let v = call a\nlet w = call b\nlet u = v if topic is present else w\nreturn u.x",
        {"a": "{x}", "b": "{x}"},
    ),
    "iterated": ("let v = call a\nfor x in v:\n  emit x.name", {"a": "[{name!}]"}),
    "iterated, left early": (
        "let v = call a\nfor x in v:\n  if x.done:\n    break\n  emit x.name",
        {"a": "[{done? name}]"},
    ),
    "a field iterated": ("let v = call a\nfor x in v.steps:\n  emit x", {"a": "{steps!:[]}"}),
    "indexed": ("let v = call a\nreturn v[0].name", {"a": "[{name}]"}),
    "measured": ("let v = call a\nreturn v.length", {"a": "[]"}),
    "len": ("let v = call a\nreturn len(v.xs)", {"a": "{xs!:[]}"}),
    "sum": ("let v = call a\nreturn sum(v)", {"a": "[number]"}),
    "text joined": ('let v = call a\nreturn "so: " + v', {"a": "*"}),
    "text joined by name": ('let t = ""\nlet v = call a\nt = t + v.x\nreturn t', {"a": "{x!}"}),
    "lists joined": (
        "let all = []\nlet v = call a\nall = all + [v]\nfor x in all:\n  emit x.k",
        {"a": "{k!}"},
    ),
    "membership": ('let v = call a\nif "x" in v:\n  return 1\nreturn 2', {"a": "*"}),
    "keys": ("let v = call a\nreturn keys(v)", {"a": "keys"}),
    "recorded and read": (
        """
        let log = []
        for each t in xs:
          let v = call a
            t: t
          record { opinion: v } in log
        for o in log:
          emit o.opinion.score * 2
        """,
        {"a": "{score!:number}"},
    ),
    "appended and returned": ("let log = []\nlet v = call a\nappend v to log\nreturn log", {"a": "*"}),
    "appended in a parallel iteration": (
        """
        let log = []
        parallel for t in xs:
          let v = call a
          append v to log
        for o in log:
          emit o.score
        """,
        {"a": "{score!}"},
    ),
    "into a list that stays inside": (
        """
        let log = []
        parallel for t in xs:
          let log = []
          append call a to log
        for o in log:
          emit o.score
        """,
        {"a": ""},
    ),
    "collected": (
        "let vs = repeat 3:\n  call a\nfor v in vs:\n  emit v.x",
        {"a": "{x!}"},
    ),
    "collected by return": (
        """
        let vs = parallel for m in members:
          repeat 2:
            let v = call m
            return { who: m, view: v }
        for seats in vs:
          for seat in seats:
            emit seat.view.score
        """,
        {"m": "{score!}"},
    ),
    "the next iteration": (
        """
        let last = null
        repeat rounds:
          let v = call a
            notes: last.notes
          last = v
        return last.text
        """,
        {"a": "{text notes}"},
    ),
    "the same iteration": (
        "repeat rounds:\n  let v = call a\n  emit v.x\n  if v.ok:\n    return v.y\nreturn 0",
        {"a": "{x! ok? y}"},
    ),
    "a loop that may not run": ("let v = call a\nrepeat rounds:\n  emit v.x", {"a": "{x}"}),
    "a loop that runs": ("let v = call a\nrepeat 2:\n  emit v.x", {"a": "{x!}"}),
    "until": ("loop until v.ok (max: 3):\n  let v = call a\nreturn v.text", {"a": "{ok? text}"}),
    "while": (
        "let v = call a\nloop while v.open (max: 3):\n  v = call b\nreturn v.text",
        {"a": "{open? text}", "b": "{open? text}"},
    ),
    "published": (
        "parallel:\n  let v = call a\n  let w = call b\nreturn v.x + w.y",
        {"a": "{x!:number}", "b": "{y!:number}"},
    ),
    "parallel as a value": (
        "let all = parallel:\n  call a\n  call b\nfor x in all:\n  emit x.k",
        {"a": "{k!}", "b": "{k!}"},
    ),
    "the winner": ('let v = parallel ("first"):\n  call a\n  call b\nreturn v.x', {"a": "{x!}", "b": "{x!}"}),
    "all branches run": (
        "let v = call a\nparallel:\n  emit v.x\n  emit v.y\nreturn 1",
        {"a": "{x! y!}"},
    ),
    "not all branches end": (
        'let v = call a\nparallel ("first"):\n  emit v.x\n  emit v.y\nreturn 1',
        {"a": "{x y}"},
    ),
    "changes inside a branch stay inside": (
        "let v = call a\nparallel:\n  do:\n    let v = call b\n    emit v.y\nreturn v.x",
        {"a": "{x!}", "b": "{y!}"},
    ),
    "blocks": (
        """
        block score(v):
          return v.points * 2
        let r = call a
        let s = do score(r)
        return s
        """,
        {"a": "{points!:number}", "score": "*"},
    ),
    "through a block": (
        """
        block ask(t):
          let v = call a
            t: t
          return v
        let one = do ask("x")
        let two = do ask("y")
        return one.x + two.y + two.x
        """,
        {"a": "{y:number x!:number}", "ask": "{x!:number}", "ask'": "{y!:number x!:number}"},
    ),
    "recursion": (
        """
        block walk(v):
          if v.done:
            return v.text
          let next = call a
          return do walk(next)
        let v = call b
        let t = do walk(v)
        return t
        """,
        {"a": "{done? text}", "walk": "*", "b": "{done? text}", "walk'": "*"},
    ),
    "outer names in blocks": ("block show:\n  emit v.x\nlet v = call a\ndo show\nreturn 1", {"a": "{x!}", "show": ""}),
    "map": (
        "let vs = xs | map:\n  call a\n    x: item\nfor v in vs:\n  emit v.x",
        {"a": "{x!}"},
    ),
    "item": ("let v = call a\nlet ys = v | map:\n  item.name\nreturn ys", {"a": "[{name!}]"}),
    "filter": ("let v = call a\nlet ys = v | filter:\n  item.score > 2\nreturn ys", {"a": "[{score!:number}]"}),
    "reduce": (
        "let v = call a\nlet r = v | reduce(acc, x):\n  call b\n    best: acc.name\n    next: x.name\nreturn r",
        {"a": "[{name}]", "b": "{name}*"},
    ),
    "try": (
        "let v = call a\ntry:\n  let w = call b\n    v: v\n  emit v.x\n  emit w.y\ncatch as e:\n  emit e\nreturn 1",
        {"a": "{x}*", "b": "{y!}"},
    ),
    "finally": ("let v = call a\ntry:\n  call b\nfinally:\n  emit v.x\nreturn v.y", {"a": "{x! y!}", "b": ""}),
    "choice": (
        """
        let v = call a
        choice which fits v best:
          option "one":
            return v.x
          option "two":
            return v.x
        """,
        {"a": "{x!}*"},
    ),
    "group": ("let v = call a\nreturn group(v by kind)", {"a": "[{kind!}]"}),
    "a field that is set": ("let v = call a\nv.x = 1\nreturn v.x + v.y", {"a": "{y!:number}"}),
    "set into a field": ("let o = {}\no.v = call a\nreturn o.v.x", {"a": "{x!}"}),
    "sessions": ('let v = session "think"\nreturn v.x', {"session": "{x!}"}),
    "a question": ("let v = **what next**\nreturn v.x", {"question": "{x!}"}),
    "the only output": ("let v = call scribe\n  topic: topic\nreturn v.draft", {"scribe": "*"}),
    "the only output's fields": (
        "let { draft } = call scribe\n  topic: topic\nreturn draft.title",
        {"scribe": "{title!}"},
    ),
    "one of several outputs": ("let v = call editor\n  draft: topic\nreturn v.notes", {"editor": "{notes!}"}),
    "structure case": (
        """
        let leave = call a
        if leave does not explicitly proceed:
          return { result: leave.reason }
        let current = topic
        repeat 3 as cycle:
          let report = call b
            brief: current
          let decision = call c
            report: report
          if decision says abort:
            return { result: report }
          if decision says adjust:
            current = decision.brief
        return { result: report }
        """,
        {"a": "{proceed? reason}", "b": "*", "c": "{decision? brief}"},
    ),
}


@pytest.mark.parametrize(("body", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_demand(body, expected):
    assert demands(body) == expected


def test_hints():
    _, found = analysed(
        """
        let v = call a
        let decision = call b
        if v.ok and v accepted:
          return 1
        if decision says abort:
          return v.kind
        if v.kind == "x":
          return 2
        """
    )
    one, two = found.demands.values() if len(found.demands) == 2 else pytest.fail("two calls")
    hints = {**one.hints, **two.hints}
    assert hints["ok"] == {"type": "boolean"}
    assert hints["accepted"] == {"type": "boolean"}
    assert hints["decision"] == {"type": "string"}


def test_readers_of_the_only_output():
    spec, found = analysed(
        """
        let v = call scribe
          topic: topic
        let { draft } = call scribe
          topic: v.draft
        let w = call editor
          draft: draft
        return { draft: v.draft, notes: w.notes, other: v.other }
        """
    )
    read = {node for node in spec.body.walk() if isinstance(node, Field) and node.name == "draft"}
    names = {node for node in found.itself if isinstance(node, Name)}
    assert found.itself - names == read
    assert [name.id for name in names] == ["draft"]


SCHEMAS = {
    "text": ("let v = call a\nreturn v", None),
    "fields": (
        "let v = call a\nemit v\nreturn { s: v.score + 1, w: v.why }",
        {
            "type": "object",
            "properties": {"score": {"type": "number"}, "why": {}, "text": {"type": "string"}},
            "required": ["score", "why"],
        },
    ),
    "mentioned": (
        "let v = call a\nif v accepted:\n  return 1\nreturn 2",
        {"type": "object", "properties": {"accepted": {"type": "boolean"}}},
    ),
    "number": ("let v = call a\nreturn v + 1", {"type": "number"}),
    "list": (
        "let v = call a\nfor x in v:\n  emit x.name",
        {"type": "array", "items": {"type": "object", "properties": {"name": {}}, "required": ["name"]}},
    ),
    "object": ("let v = call a\nreturn keys(v)", {"type": "object", "properties": {}}),
}


@pytest.mark.parametrize(("body", "expected"), SCHEMAS.values(), ids=SCHEMAS)
def test_schema(body, expected):
    _, found = analysed(body)
    (demand,) = found.demands.values()
    assert schema(demand) == expected


def returns(*names, optional=()):
    outputs = [OutputDecl(span=HERE, name=n, name_span=HERE, optional=n in optional) for n in (*names, *optional)]
    return Returns(span=HERE, outputs=tuple(outputs))


def slot(*names):
    promise = Promise(span=HERE, text=", ".join(names), names=names)
    return Slot(span=HERE, name="a", name_span=HERE, ensures=(promise,))


def test_declared_outputs_join_the_demand():
    demand = with_declared(Demand(whole=True), returns("x", "y", optional=["z"]), None)
    assert shown(demand) == "{x! y! z?}"
    read = Demand(fields={"z": Demand()}, required={"z"})
    assert shown(with_declared(read, returns("x", optional=["z"]), None)) == "{z! x!}"


def test_a_slot_declares_fields_by_two_names():
    assert shown(with_declared(None, None, slot("x", "y"))) == "{x! y!}"
    assert shown(with_declared(Demand(whole=True), None, slot("x"))) == "*"
    assert declared(slot("x", "y")) == {"x": True, "y": True}


def test_a_condition_asks_for_the_declared_field_that_tells_the_same():
    _, found = analysed("let v = call a\nif v accepts or v says abort:\n  return 1")
    [demand] = found.demands.values()
    assert shown(demand) == "{accepted? v?}"
    told = with_declared(demand, returns("approved", "decision"), None)
    assert shown(told) == "{approved! decision!}"
    assert told.hints == {"approved": {"type": "boolean"}, "decision": {"type": "string"}}
    assert shown(with_declared(demand, returns("answer", "reason"), None)) == "{accepted? v? answer! reason!}"


def test_one_output_is_bare():
    demand = with_declared(Demand(whole=True), returns("draft"), None)
    assert demand.bare == "draft"
    assert schema(demand) is None


def test_what_is_declared_does_not_change_the_demand_itself():
    demand = Demand(whole=True)
    with_declared(demand, returns("x", "y"), slot("p", "q"))
    assert demand == Demand(whole=True)


LINES = st.sampled_from(
    [
        "let {x} = call a",
        "let {x} = {y}",
        "{x} = {y}.{f}",
        "let {{ f, g }} = {x}",
        "record {{ f: {x} }} in {y}",
        "append {x} to {y}",
        "{x}.{f} = call b",
        "return {x}.{f}",
        "emit {x}[0]",
        "let {x} = {y} or {x}.{f}",
        "break",
    ]
)
HEADS = st.sampled_from(
    [
        "if {x}.{f}:",
        "if {x} says stop:",
        "repeat rounds:",
        "for {x} in {y}:",
        "loop until {x}.{f} (max: 2):",
        "let {x} = parallel for {y} in {x}:",
        "parallel:",
        "try:",
        "do:",
    ]
)


@st.composite
def programs(draw, depth=0):
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        nested = depth < 3 and draw(st.booleans())
        names = {key: draw(st.sampled_from(["p", "q", "r"])) for key in "xy"} | {"f": draw(st.sampled_from(["f", "g"]))}
        line = draw(HEADS if nested else LINES).format(**names)
        lines.append(line)
        if nested:
            lines += ["  " + inner for inner in draw(programs(depth + 1))]
        if line == "try:":
            lines += ["catch as e:", "  emit e"]
    return lines


@given(programs())
@settings(max_examples=60, deadline=None)
def test_every_call_of_any_program_has_a_sound_demand(lines):
    spec, _ = parse(Source("trial.prose.md", HEAD + "\n".join(lines) + "\n```\n"))
    calls = [node for node in spec.body.walk() if isinstance(node, Call)]
    found = shapes(spec, (), {}, collected(spec))
    assert set(found.demands) == set(calls)
    for demand in found.demands.values():
        assert demand.required <= demand.fields.keys()
        assert demand.mentioned <= demand.fields.keys() - demand.required
        assert (schema(demand) is None) == (not demand.structured)


def test_large_programs_take_no_long():
    nested = "".join("  " * i + f"repeat rounds as n{i}:\n" for i in range(14)) + "  " * 14 + "v = call a\n"
    chain = "let x0 = call a\n" + "".join(f"let x{i + 1} = x{i}\n" for i in range(400)) + "emit x400.name\n"
    turns = "let v = call b\nrepeat rounds:\n" + "".join(f"  v = v.f{i}\n" for i in range(9)) + "return v\n"
    calls = (
        "".join(f"block p{i}(v):\n  do p{i + 1}(v)\n  do p{i + 1}(v.x)\n" for i in range(14))
        + "block p14(v):\n  emit v\n"
    )
    started = time.monotonic()
    analysed(nested + chain + calls + "let w = call c\ndo p0(w)\n" + turns)
    assert time.monotonic() - started < 5
