"""Golden trees: each program of ``golden/*.txt`` with the outline of its tree, without positions.

A file holds cases that a line ``=== name`` begins; a line ``---`` stands between the program and its outline. The
programs cover every construct of the grammar box in LANGUAGE.md section 3, and real bodies of patterns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from prose_runtime import nodes
from support.scripts import outline, read

FOLDER = Path(__file__).parent / "golden"


def cases() -> Iterator[tuple[str, str, str]]:
    for path in sorted(FOLDER.glob("*.txt")):
        for case in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, rest = case.partition("\n")
            program, _, tree = rest.partition("\n---\n")
            yield f"{path.stem}: {name}", program, tree.strip()


CASES = list(cases())


@pytest.mark.parametrize(("program", "tree"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_tree(program: str, tree: str) -> None:
    parsed = read(program)
    assert [d for d in parsed.diagnostics if d.severity == "error"] == []
    assert "\n".join(outline(statement) for statement in parsed.block.statements) == tree


def test_every_construct_is_covered() -> None:
    kinds = {type(node).__name__ for _, program, _ in CASES for node in read(program).block.walk()}
    abstract = {"Node", "Expr", "Test", "Invalid"}
    in_programs = {
        name
        for name, kind in vars(nodes).items()
        if isinstance(kind, type) and issubclass(kind, nodes.Node) and kind.__module__.endswith("program")
    }
    assert in_programs - abstract - kinds == set()
