"""Add up a column of a small table; which separator it has must be learnt from the lessons."""

import json
import sys

given = json.load(sys.stdin)["inputs"]
separator = ";" if any("separator ;" in lesson for lesson in given["lessons"]) else ","
rows = [line.split(separator) for line in given["task_brief"].split()]
if any(len(row) < 2 for row in rows):
    sys.exit("the table has only one column")
json.dump(f"{len(rows)} rows, sum {sum(int(row[1]) for row in rows)}", sys.stdout)
