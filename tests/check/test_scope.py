"""Frames and visible names, on trees built by hand."""

from __future__ import annotations

from prose_runtime import nodes as n
from prose_runtime.check.scope import Scopes, scopes
from prose_runtime.text import Source, Span

AT = Span(0, 0)


def name(word: str) -> n.Name:
    return n.Name(span=AT, id=word)


def text(word: str) -> n.Template:
    """``"{word}"``: what is visible there is asked for."""
    return n.Template(span=AT, parts=(n.Interpolation(span=AT, value=name(word), raw=f"{{{word}}}"),))


def let(word: str, value: n.Expr, keyword: str | None = "let") -> n.Bind:
    return n.Bind(span=AT, keyword=keyword, target=name(word), value=value)  # type: ignore[arg-type]


def block(*statements: n.Node) -> n.Block:
    return n.Block(span=AT, statements=statements)


def alone(value: n.Expr) -> n.ExprStatement:
    return n.ExprStatement(span=AT, value=value)


def spec(*statements: n.Node, slots: tuple[n.Slot, ...] = (), inputs: tuple[str, ...] = ()) -> n.Spec:
    rows = tuple(n.Parameter(span=AT, name=word, name_span=AT) for word in inputs)
    source = Source("x.prose.md", "")
    return n.Spec(
        span=AT, source=source, name="x", name_span=AT, kind="pattern", frontmatter={},
        slots=slots, parameters=rows, body=block(*statements),
    )  # fmt: skip


def slot(word: str, *requires: str) -> n.Slot:
    items = tuple(n.Requirement(span=AT, text=item, name=item) for item in requires)
    return n.Slot(span=AT, name=word, name_span=AT, requires=items)


def seen(found: Scopes, node: n.Node) -> set[str]:
    return set(found.visible[node]) - {"config"}


def test_names_bound_anywhere_in_the_frame_are_visible() -> None:
    probe, one = text("late"), n.Constant(span=AT, value=1)
    loop = n.Repeat(span=AT, count=one, var=name("round"), body=block(let("inner", probe)))
    found = scopes(spec(alone(loop), let("late", one), inputs=("topic",)))
    assert seen(found, probe) == {"topic", "round", "inner", "late"}


def test_a_branch_sees_outer_names_and_keeps_its_own() -> None:
    inside, outside, one = text("a"), text("b"), n.Constant(span=AT, value=1)
    branch = n.Do(span=AT, body=block(let("own", inside)))
    parallel = n.Parallel(span=AT, body=block(alone(branch), let("published", one)), options=n.ParallelOptions(span=AT))
    found = scopes(spec(let("outer", one), alone(parallel), alone(outside)))
    assert seen(found, inside) == {"outer", "own", "published"}
    assert seen(found, outside) == {"outer", "published"}


def test_a_parallel_iteration_keeps_its_variable() -> None:
    inside, outside = text("x"), text("x")
    loop = n.ForEach(
        span=AT, var=name("x"), index=name("i"), iterable=name("xs"), body=block(alone(inside)),
        parallel=n.ParallelOptions(span=AT),
    )  # fmt: skip
    found = scopes(spec(alone(loop), alone(outside), inputs=("xs",)))
    assert seen(found, inside) == {"xs", "x", "i"}
    assert seen(found, outside) == {"xs"}


def test_pipeline_bodies_have_item_and_the_names_of_reduce() -> None:
    mapped, reduced = text("item"), text("acc")
    stages = (
        n.Stage(span=AT, kind="map", body=block(alone(mapped))),
        n.Stage(span=AT, kind="reduce", names=(name("acc"), name("x")), body=block(alone(reduced))),
    )
    found = scopes(spec(alone(n.Pipeline(span=AT, source=name("xs"), stages=stages)), inputs=("xs",)))
    assert seen(found, mapped) == {"xs", "item"}
    assert seen(found, reduced) == {"xs", "acc", "x"}


def test_a_block_reads_the_names_of_the_delegation_wherever_it_stands() -> None:
    probe, one = text("p"), n.Constant(span=AT, value=1)
    definition = n.BlockDef(span=AT, name=name("ask"), params=(name("p"),), body=block(alone(probe)))
    parallel = n.Parallel(
        span=AT,
        body=block(alone(n.Do(span=AT, body=block(let("hidden", one), definition)))),
        options=n.ParallelOptions(span=AT),
    )
    found = scopes(spec(alone(parallel), let("outer", one)))
    assert seen(found, probe) == {"ask", "p", "outer"}


def test_required_names_are_inputs_when_they_are_read_and_never_bound() -> None:
    slots = (slot("writer", "topic", "draft", "unread"),)
    found = scopes(spec(alone(name("topic")), let("draft", name("task_brief")), slots=slots))
    assert set(found.inputs) == {"topic", "task_brief"}
    assert set(found.undeclared) == {"topic", "task_brief"}


def test_an_unreadable_statement_still_binds_what_it_seems_to_bind() -> None:
    probe = text("x")
    broken = n.Invalid(span=AT, text="let { a, b } = call (\nfor each c in xs do\nd = = 1\ntry as e")
    found = scopes(spec(broken, alone(probe)))
    assert seen(found, probe) == {"a", "b", "c", "d", "e"}
