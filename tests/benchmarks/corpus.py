"""Files to check: the library copied and varied, and single files of great size."""

from __future__ import annotations

import re
from pathlib import Path

from prose_runtime.check.project import library

_BOUND = re.compile(r"^ *let ([a-z_]+)\b", re.MULTILINE)


def write_library(folder: Path, count: int) -> list[Path]:
    """``count`` files made from the library's, no two alike: other names, other words, other local variables."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prose.yml").write_text("services: {}\n", encoding="utf-8")
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(library().rglob("*.prose.md"))}
    originals = [path for path, text in texts.items() if '\nuse "' not in text]  # a path leads nowhere from a copy
    made = []
    for number in range(count):
        original = originals[number % len(originals)]
        stem = original.name.removesuffix(".prose.md")
        path = folder / f"{stem}-{number}.prose.md"
        path.write_text(_varied(texts[original], stem, number), encoding="utf-8")
        made.append(path)
    return made


def _varied(text: str, stem: str, number: int) -> str:
    head, fence, program = text.partition("```prose")
    head = head.replace(f"name: {stem}", f"name: {stem}-{number}", 1).replace(" the ", f" the {number}th ")
    for name in set(_BOUND.findall(program)):
        program = re.sub(rf'(?<![\w.-]){name}(?![\w"-]|: )', f"{name}_{number}", program)
    return head + fence + program


def many_lines(lines: int) -> str:
    """A pattern whose program has that many lines: calls, conditions and loops in turn."""
    rounds = range(lines // 6)
    body = "".join(
        f"let answer_{n} = call worker\n  task: last\nif answer_{n}.good:\n  last = answer_{n}\n"
        f"repeat 2 as round_{n}:\n  emit answer_{n}\n"
        for n in rounds
    )
    return _pattern(f"let last = task_brief\n{body}return last")


def deep_nesting(levels: int) -> str:
    """A pattern with loops and conditions inside each other."""
    body = "".join(f"{'  ' * n}{'if last.good:' if n % 2 else 'repeat 2:'}\n" for n in range(levels))
    inner = "  " * levels
    return _pattern(f"let last = task_brief\n{body}{inner}last = call worker\n{inner}  task: last\nreturn last")


def long_string(characters: int) -> str:
    """A pattern whose prompt is that long."""
    words = "Weigh every side of the matter {task_brief}.\n" * (characters // 45)
    return _pattern(f'let last = call worker\n  task: """\n{words}\n"""\nreturn last')


def long_list(items: int) -> str:
    """A pattern whose program holds a list of that many items."""
    values = "".join(f'  "item {n}",\n' for n in range(items))
    return _pattern(f"let last = call worker\n  task: task_brief\nlet parts = [\n{values}]\nreturn parts")


def many_bullets(items: int) -> str:
    """A pattern with a section of that many bullets, as a file that a program wrote may have."""
    rows = "".join(f"- `part_{n}`: the part of the number {n}\n" for n in range(items))
    return _pattern("let last = call worker\n  task: task_brief\nreturn last", f"### Notes\n\n{rows}\n")


def _pattern(program: str, more: str = "") -> str:
    return (
        "---\nname: large\nkind: pattern\n---\n\n### Slots\n\n- `worker`: does the task\n  - requires: task\n\n"
        f"### Parameters\n\n- task_brief: what is to be done\n\n{more}### Returns\n\n- result: what came out\n\n"
        f"### Delegation\n\n```prose\n{program}\n```\n"
    )
