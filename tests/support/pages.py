"""Makes spec files of the examples on the pages of `prose explain`."""

from __future__ import annotations

import re
import textwrap

from prose_runtime.check.rule import Rule

_HEADINGS = re.compile(r"^(What it does|Why|Example|Use instead)\n", re.MULTILINE)
_FENCED = re.compile(r"(?P<mark>`{3,})(?P<label>\w+)\n(?P<text>.*?)^(?P=mark)$", re.MULTILINE | re.DOTALL)
_BOUND = re.compile(r"\b(?:let|const) ([\w-]+)")
_SAID = re.compile(r"(?P<slot>[\w-]+) +# (?P<key>requires|ensures): (?P<what>.*)")

PATTERN = "---\nname: page\nkind: pattern\n---\n\n"
FUNCTION = "---\nname: page\nkind: function\n---\n\nSay it.\n\n"
TEST = "---\nname: page\nkind: test\nsubject: summary\n---\n\n"
FIXTURES = TEST + "### Fixtures\n\nHERE\n\n### Expects\n\n- is present\n"
EXPECTS = TEST + "### Expects\n\nHERE\n"
FRONT = "---\nname: page\nHERE\n---\n\n### Parameters\n\n- `x`: y\n"
INSTANCES = FUNCTION + "### Patterns\n\n```yaml\nHERE\n```\n\n## scribe\n\nWrite.\n"
JAVASCRIPT = "---\nname: page\nkind: composite\n---\n\n### Delegation Loop\n\n```javascript\nHERE\nreturn(1);\n```\n"
PROGRAM = (
    PATTERN + "### Slots\n\nSLOTS\n\n### Config\n\n- `rounds` (integer, default: 2)\n\n"
    "### Parameters\n\nINPUTS\n\n### Delegation\n\n```prose\nHERE\n```\n"
)
END = "\n\n### Delegation\n\n```prose\nreturn call author\n```\n"

PLACES = {
    "bad-expectation": EXPECTS,
    "unknown-output": EXPECTS,
    "fixture-type": FIXTURES,
    "unknown-fixture": FIXTURES,
    "test-expects-nothing": TEST + "HERE\n",
    "test-subject": "---\nname: page\nHERE\n---\n\n### Expects\n\n- is present\n",
    "kind-spelling": FRONT,
    "retired-kind": FRONT,
    "unknown-kind": FRONT,
    "missing-frontmatter": "HERE",
    "empty-file": "HERE",
    "unclosed-frontmatter": "HERE",
    "misplaced-section": "HERE",
    "javascript-syntax": JAVASCRIPT,
    "pattern-instance": INSTANCES,
    "duplicate-key": INSTANCES,
    "config-type": PATTERN + "### Config\n\nHERE" + END,
    "unknown-type": PATTERN + "### Config\n\nHERE" + END,
    "unclosed-parenthesis": PATTERN + "### Config\n\nHERE" + END,
    "duplicate-name": PATTERN + "### Slots\n\nHERE" + END,
    "missing-delegation": PATTERN + "HERE\n",
    "name-differs-from-file": "---\nHERE\n---\n\nSay it.\n",
    "quoted-declaration": PATTERN + "### Parameters\n\nHERE" + END,
    "unread-bullet": PATTERN + "### Parameters\n\nHERE" + END,
    "section-label": FUNCTION + "HERE\n",
    "unclosed-comment": FUNCTION + "HERE\n",
    "loose-program": FUNCTION + "HERE\n",
    "unknown-delegate": PATTERN + "### Slots\n\n- `writer`\n\n### Shape\n\nHERE\n\n"
    "### Delegation\n\n```prose\nreturn call writer\n```\n",
    "invariant-name": PATTERN + "### Slots\n\n- `author`\n\n### Invariants\n\nHERE" + END,
    "end-without-return": PROGRAM.replace("### Del", "### Returns\n\n- `text`: it\n\n### Del"),
    "return-missing": PROGRAM.replace("### Del", "### Returns\n\n- `text`: it\n- `rounds`: how many\n\n### Del"),
    "undeclared-output": PROGRAM.replace("### Del", "### Returns\n\n- `text`: it\n- `rounds`: how many\n\n### Del"),
}
"""What stands around an example: where it is not told, by its label and first characters."""

WHOLE = {"two-fences", "two-programs", "missing-delegation", "empty-delegation", "unclosed-fence", "loose-program"}
"""Codes whose examples hold fences and are no fence."""

INPUTS = """\
- `stages` (string[]): who works on it
- `mode` (fast | careful, default: fast)
- `score` (number)
""" + "".join(
    f"- `{name}`: x\n"
    for name in "argument cases drafts failures facts left mark motion names notes others quality-bar question "
    "said_left tasks task_brief title tone topic topics n half".split()
)
ROLES = "stages left right author clerk critic editor finder judge optimist pessimist planner reader writer".split()
ROLES += ["worker", "one", "two"]

SUBJECT = "---\nname: summary\nkind: function\n---\n\nSum it up.\n\n### Config\n\n- `rounds` (integer, default: 2)\n\n"
SUBJECT += "### Parameters\n\n- `text`: what\n- `writer`: who\n\n### Returns\n\n- `summary`: the sum\n"


def examples(rule: Rule) -> tuple[str, str]:
    """The example of a page, and what it says to write instead."""
    bits = _HEADINGS.split(rule.page or "")
    parts = dict(zip(bits[1::2], bits[2::2], strict=True))
    return _spelt_out(parts["Example"]), _spelt_out(parts["Use instead"])


def _spelt_out(part: str) -> str:
    """An example as it stands in a file."""
    text = textwrap.dedent(part).strip("\n").replace("<tab>", "\t").replace("((((...))))", "(" * 300 + "1" + ")" * 300)
    return "" if text == "a file of 0 bytes" else text.replace("...", "1")


def placed(rule: Rule, example: str) -> str:
    """A spec that holds an example of a rule's page."""
    fence = _FENCED.search(example) if rule.code not in WHOLE else None
    text = fence["text"].rstrip("\n") if fence else example
    label = fence["label"] if fence else ""
    if rule.code in PLACES:
        place = PLACES[rule.code]
    elif text.startswith("---"):
        place = "HERE"
    elif text.startswith(("#", "```", "##")) and label != "prose":
        place = PATTERN + ("HERE\n" if "### Delegation" in text else "HERE" + END)
    elif label == "yaml":
        place = INSTANCES
    else:
        place = PROGRAM
    if "SLOTS" not in place:
        return place.replace("HERE", text)
    return _program(place, text)


def _program(place: str, text: str) -> str:
    said = {match["slot"]: (match["key"], match["what"]) for match in _SAID.finditer(text)}
    slots = [f"- `{role}`" + (f"\n  - {said[role][0]}: {said[role][1]}" if role in said else "") for role in ROLES]
    body = text + "\n  emit 1" * text.endswith(":")
    bound = set(_BOUND.findall(text))
    inputs = "".join(line for line in INPUTS.splitlines(keepends=True) if line.split("`")[1] not in bound)
    return place.replace("SLOTS", "\n".join(slots)).replace("INPUTS", inputs).replace("HERE", body)
