"""The rooms of the code base: who may import whom, how long files and functions are, what is documented."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

from support.commands import ROOT

PACKAGE = ROOT / "prose_runtime"

# From the ground up; a room imports from rooms above it in this list and from those in line with it. `__init__` is the
# façade that users of the library import.
ROOMS = [
    {"records", "resources", "depth"},
    {"text"},
    {"diagnostics"},
    {"errors"},
    {"nodes", "visitor"},
    {"syntax"},
    {"values", "jsontext"},
    {"check"},
    {"events", "journal", "trace"},
    {"services"},
    {"runtime"},
    {"engine"},
    {"report"},
    {"__init__", "testing"},
    {"cli", "lsp", "pytest_plugin", "__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}

FILES = sorted(PACKAGE.rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import from this package, also those inside functions."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides which room it reaches"
            from_package = node.module == "prose_runtime"
            modules = [f"{node.module}.{a.name}" if from_package else str(node.module) for a in node.names]
        else:
            continue
        for module in modules:
            package, *parts = module.split(".")
            if package == "prose_runtime":
                yield node.lineno, parts[0] if parts and parts[0] in LEVEL else "__init__"


def test_the_tables_of_the_grammar_are_made_of_its_text() -> None:
    """Otherwise every start would make them anew, which takes a second."""
    grammar = (ROOT / "grammar" / "prosescript.lark").read_bytes()
    kept = json.loads((ROOT / "grammar" / "prosescript.json").read_text(encoding="utf-8"))
    assert kept["grammar"] == crc32(grammar), "run python -m prose_runtime.lsp.reference"


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def own_room(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_room_imports_only_from_rooms_above_it(path: Path) -> None:
    room = own_room(path)
    assert room in LEVEL, f"{relative(path)} is in no known room; give it a place in the list"
    below = [f"line {line}: {other}" for line, other in imports(path) if LEVEL[other] > LEVEL[room]]
    assert below == []


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree_of(path)) if isinstance(node, Function))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_files_and_functions_are_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 600
    lengths = {node.name: node.end_lineno - node.lineno + 1 for node in functions(path) if node.end_lineno}
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Public functions and classes of a module, and public methods of its public classes."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{node.name}.")


def unannotated(function: Function) -> list[str]:
    """Arguments without a type, and ``return`` when that has none; ``self`` and ``cls`` need none."""
    spec = function.args
    given = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
    bare = [argument.arg for argument in given if argument.annotation is None and argument.arg not in ("self", "cls")]
    return bare + (["return"] if function.returns is None else [])


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_public_names_are_documented_and_annotated(path: Path) -> None:
    tree = tree_of(path)
    faults = [] if ast.get_docstring(tree) or not tree.body else ["the module has no docstring"]
    for name, node in public(tree.body):
        if not ast.get_docstring(node) and not overrides(node):
            faults.append(f"{name} has no docstring")
        if isinstance(node, Function):
            faults += [f"{name}: {argument} has no type" for argument in unannotated(node)]
    assert faults == []


def overrides(node: Function | ast.ClassDef) -> bool:
    """Whether a decorator says that the documentation stands elsewhere."""
    names = {ast.unparse(decorator).rsplit(".", 1)[-1] for decorator in node.decorator_list}
    return bool(names & {"override", "overload"}) or any(name.endswith(("setter", "deleter")) for name in names)


def test_the_engine_s_package_is_imported_in_its_room_only() -> None:
    imported = re.compile(r"^\s*(from|import) temporalio", re.MULTILINE)
    users = [path for path in FILES if imported.search(path.read_text(encoding="utf-8"))]
    assert {own_room(path) for path in users} == {"engine"}
