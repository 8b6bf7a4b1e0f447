"""IBM's prompt-declaration-language: YAML blocks; a role is a function that gives data."""

from __future__ import annotations

from pdl.pdl import exec_program
from pdl.pdl_parser import parse_str
from timing import BRANCHES, ITEMS, TURNS, measured

DIALECTIC = """
defs:
  thesis: {function: {brief: string, opposing: string}, return: {data: an answer}}
  antithesis: {function: {brief: string, opposing: string}, return: {data: an answer}}
  case_for: {data: ""}
  case_against: {data: ""}
lastOf:
- repeat:
    object:
      thesis: {def: case_for, call: "${ thesis }", args: {brief: "${ brief }", opposing: "${ case_against }"}}
      antithesis: {def: case_against, call: "${ antithesis }", args: {brief: "${ brief }", opposing: "${ case_for }"}}
  maxIterations: %d
  join: {as: array}
"""
FAN_OUT = """
defs:
  worker: {function: {item: string}, return: {data: an answer}}
for: {x: "${ items }"}
map: {call: "${ worker }", args: {item: "${ x }"}}
join: {as: array}
"""
LOOP = """
defs:
  writer: {function: {brief: string, note: string}, return: {data: an answer}}
  critic: {function: {draft: string}, return: {data: {accepted: false, note: more}}}
  view: {data: {accepted: false, note: ""}}
lastOf:
- repeat:
    lastOf:
    - {def: draft, call: "${ writer }", args: {brief: "${ brief }", note: "${ view.note }"}}
    - {def: view, call: "${ critic }", args: {draft: "${ draft }"}}
  until: ${ view.accepted }
  maxIterations: %d
"""
NESTED = """
defs:
  worker: {function: {item: string}, return: {data: an answer}}
for: {x: "${ items }"}
map:
  for: {y: "${ items }"}
  map: {call: "${ worker }", args: {item: "${ y }"}}
  join: {as: array}
join: {as: array}
"""


def main() -> None:
    dialectic, loop = (parse_str(text % TURNS)[0] for text in (DIALECTIC, LOOP))
    fan_out, nested = (parse_str(text)[0] for text in (FAN_OUT, NESTED))
    items, branches = ([str(i) for i in range(n)] for n in (ITEMS, BRANCHES))
    measured(
        {
            "dialectic": lambda: exec_program(dialectic, scope={"brief": "x"}),
            "fan-out": lambda: exec_program(fan_out, scope={"items": items}),
            "loop": lambda: exec_program(loop, scope={"brief": "x"}),
            "nested": lambda: exec_program(nested, scope={"items": branches}),
        }
    )


if __name__ == "__main__":
    main()
