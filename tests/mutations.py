"""How many faults of the library's patterns `prose check` notices: run it with python, it prints shares and escapes.

Each pattern is changed in one place at a time: an input dropped, two slots exchanged, another role's output passed, a
bound removed, a name misspelt. A change counts as noticed when the checker reports an error or a warning, an invariant
that is refuted among them, which the pattern itself does not have.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).parent))

from prose_runtime.check.checker import check_path
from prose_runtime.check.project import Project, library
from support.mutants import Mutant, mutants, noticed

WANTED = 0.9


def measure(every: int = 1) -> tuple[Counter[str], Counter[str], list[tuple[str, Mutant]]]:
    """How many mutants of each kind there are and are noticed, and those that escape. ``every`` takes a sample."""
    made: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    escaped = []
    number = 0
    for path in sorted(library().glob("*.prose.md")):
        project = Project.around(path)
        for mutant in mutants(check_path(path, project)):
            number += 1
            if number % every:
                continue
            made[mutant.kind] += 1
            if noticed(mutant, path, project):
                seen[mutant.kind] += 1
            else:
                escaped.append((path.name, mutant))
    return made, seen, escaped


def main() -> int:
    """Print the shares and what escaped; the exit code is 1 when fewer than nine of ten of any kind were noticed."""
    made, seen, escaped = measure()
    for kind, count in made.items():
        print(f"{kind:20} {seen[kind]:4} of {count:4} noticed ({seen[kind] / count:.0%})")
    share = seen.total() / made.total()
    print(f"{'in all':20} {seen.total():4} of {made.total():4} noticed ({share:.1%})")
    for file, mutant in escaped:
        print(f"escaped: {file}:{mutant.line}: {mutant.what}")
    return 0 if all(seen[kind] >= WANTED * count for kind, count in made.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
