"""A sample of the library's mutants; `python tests/mutations.py` measures all of them and lists what escapes."""

from __future__ import annotations

from mutations import WANTED, measure


def test_nine_of_ten_faults_are_noticed() -> None:
    made, seen, escaped = measure(every=11)
    assert set(made) == {
        "dropped arguments",
        "swapped slots",
        "other outputs",
        "removed bounds",
        "misspelt names",
    }
    assert made.total() > 40
    assert seen.total() >= WANTED * made.total(), [f"{file}:{mutant.line}: {mutant.what}" for file, mutant in escaped]
