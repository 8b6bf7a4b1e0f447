"""The command: measure the parts that are named, print the table, write the JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import PARTS
from benchmarks.measure import FULL, QUICK, Row, surroundings
from benchmarks.table import heading, line, summary


def main() -> int:
    """Run the parts; the exit code says only whether they could be run."""
    words = argparse.ArgumentParser(prog="python tests/benchmarks", description="Measure, beside references.")
    words.add_argument("parts", nargs="*", metavar="PART", help=f"what to measure: {', '.join(PARTS)} (all)")
    words.add_argument("--quick", action="store_true", help="small sizes and few rounds: does it run at all?")
    words.add_argument("--json", type=Path, metavar="FILE", default=Path("benchmarks.json"), help="where the JSON goes")
    given = words.parse_args()
    if unknown := sorted(set(given.parts) - set(PARTS)):
        words.error(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    about = surroundings()
    print("\n".join(f"{key}: {value}" for key, value in about.items()))
    rows: list[Row] = []
    for part in given.parts or PARTS:
        print(heading(part))
        for row in importlib.import_module(f"benchmarks.{part}").rows(QUICK if given.quick else FULL):
            print(line(row), flush=True)
            rows.append(row)
    print(summary(rows))
    given.json.write_text(json.dumps({**about, "rows": [row.as_json() for row in rows]}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
