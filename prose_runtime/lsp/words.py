"""The words of ProseScript, as the grammar spells them, and a sentence on each for whoever points at it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from prose_runtime.resources import resource

_HEADING = re.compile(r"// (?P<title>[A-Z][^.\n]*[.,:].*)")
_TERMINAL = re.compile(r"_?[A-Z_]+(?:\.\d+)?: /(?P<pattern>.+)/s?\s*")
_SPELT = re.compile(r"\(\?:(?P<any>[a-z]+(?:\|[a-z]+)+)\)|(?P<one>[a-z]+(?:\\s\+[a-z]+)*)")
_GROUPS = {
    "Words that begin a line": "statement",
    "Words that begin a value": "construct",
    "Words in the middle": "connective",
    "Operators in words": "operator",
}


@cache
def words() -> Mapping[str, tuple[str, ...]]:
    """The grammar's words by group: ``statement``, ``construct``, ``connective``, ``operator``, ``constant``."""
    found: dict[str, list[str]] = {group: [] for group in (*_GROUPS.values(), "constant")}
    group = None
    for line in (resource("grammar") / "prosescript.lark").read_text(encoding="utf-8").splitlines():
        heading = _HEADING.match(line)
        if heading:
            group = next((name for title, name in _GROUPS.items() if heading["title"].startswith(title)), None)
        terminal = _TERMINAL.match(line)
        if terminal and (group or line.startswith("CONSTANT")):
            found["constant" if line.startswith("CONSTANT") else str(group)] += _spelt(terminal["pattern"])
    taken: set[str] = set()
    unique = {}
    for name in ("constant", "statement", "construct", "operator", "connective"):
        unique[name] = tuple(word for word in dict.fromkeys(found[name]) if word not in taken)
        taken.update(unique[name])
    return unique


def _spelt(pattern: str) -> list[str]:
    """The words at the start of a terminal's pattern."""
    match = _SPELT.match(pattern)
    if match is None:
        return []
    return match["any"].split("|") if match["any"] else [match["one"].replace("\\s+", " ")]


HELP: Mapping[str, str] = {
    "null": "No value: what a missing field, index or optional input gives.",
    "true": "The truth value true.",
    "false": "The truth value false.",
    "let": "Gives a name a value; a name that is visible in the same frame gets the new one.",
    "const": "Gives a name a value that nothing may change.",
    "return": "Leaves the nearest collected iteration, block, stage or branch with a value, else ends the delegation.",
    "throw": "Fails with a value; inside a `catch` it raises again what was caught.",
    "break": "Ends the loop.",
    "continue": "Goes on with the loop's next pass.",
    "emit": "Shows a line to the person who watches; it is also an event of the trace.",
    "record": "`record E in xs` adds a value to a list.",
    "append": "`append E to xs` adds a value to a list.",
    "add": "`add E to xs` adds a value to a list, optionally `with note E`.",
    "sleep": "Waits: `sleep 2s`.",
    "use": '`use "file" as name` makes another spec callable.',
    "import": "The older spelling of `use`.",
    "agent": "Defines an agent of the oldest dialect: a model with a prompt.",
    "block": "`block name(a, b):` defines statements that `do name(...)` runs in a frame of their own.",
    "input": "Describes an input in the oldest dialect; today it is a row of Parameters.",
    "gate": '`gate name: "text"` waits for a person\'s answer, in the oldest dialect.',
    "output": "Publishes a value in the oldest dialect; today it is `return`.",
    "else if": "Another condition, asked when those above do not hold; usually spelt `elif`.",
    "elif": "Another condition, asked when those above do not hold.",
    "else": "What runs when no condition above holds; `a if C else b` chooses a value.",
    "catch": "Runs when a call, a shape or a `throw` failed in the `try` above: `catch as e:`.",
    "finally": "Runs whatever ended the `try` above.",
    "option": "One answer that the judge can choose, with what it then runs.",
    "if": "Runs its body when a condition holds; the condition is an expression or English.",
    "choice": "Asks the judge which of the options fits a criterion.",
    "repeat": "`repeat N as i:` runs its body N times; the counter starts at 1.",
    "for": "`for x, i in xs:` runs its body for each element; the index starts at 0.",
    "loop": "`loop until C (max: N):` tests after each pass, `loop while C` before; `max` is a hard bound.",
    "parallel": "Runs its statements, or iterations, at once; each is a frame with a copy of the names around it.",
    "try": "Runs its body and hands a failure to `catch`.",
    "do": "`do name(...)` runs a block; `do:` groups statements in the same frame.",
    "call": "Asks a slot, component, block or spec; it gets the inputs that are named here and nothing else.",
    "session": "A model call without a slot, from the oldest dialect.",
    "ask": '`ask "text"` gives a person\'s answer, in the oldest dialect.',
    "resume": "Goes on with a session of the oldest dialect.",
    "group": "`group(xs by field)` sorts the elements of a list by the value of a field.",
    "each": "`for each x in xs:` is `for x in xs:`.",
    "in": "Stands before the list of a loop; as an operator it tells whether a value is a member.",
    "to": "Stands before the list that a value is added to.",
    "as": "Names the counter of a loop, the failure of a `catch`, or what `use` makes callable.",
    "from": "Names the file of an `import`.",
    "by": "Names the field that `group` goes by.",
    "with": "Gives a call's inputs as one object, or a note to `add`.",
    "note": "A remark that `add ... with note E` keeps beside a value.",
    "until": "The loop ends when its condition holds; it is tested after each pass.",
    "while": "The loop goes on as long as its condition holds; it is tested before each pass.",
    "then": "Stands before the value of `if C then x else y`.",
    "map": "`xs | map:` gives each element's value of the body, in which the element is `item`.",
    "pmap": "Like `map`, with all elements at once.",
    "filter": "`xs | filter:` keeps the elements for which the body gives a truthy value.",
    "reduce": "`xs | reduce(acc, x):` folds a list into one value, starting with its first element.",
    "or": "Gives the first truthy value; in a condition, one of the parts has to hold.",
    "and": "All parts have to hold.",
    "not": "Turns a truth value round.",
    "is": "Compares, or tells a state: `is present`, `is empty`, `is at least 3`.",
    "present": "Whether a value is not null.",
    "absent": "Whether a value is null.",
    "set": "Whether a value is not null.",
    "empty": "Whether a text, list or object has nothing in it.",
    "has": "Whether a field of that name is not null, or a list has such a member.",
    "have": "`does not have X` is the opposite of `has X`.",
    "contains": "Whether a text or list contains a value.",
    "contain": "`does not contain X` is the opposite of `contains X`.",
    "meets": "At least: `score meets threshold` is `score >= threshold`.",
    "meet": "`does not meet X` is the opposite of `meets X`.",
    "exceeds": "More than: `score exceeds limit` is `score > limit`.",
    "exceed": "`does not exceed X` is the opposite of `exceeds X`.",
    "does": "Stands before a negation: `does not contain X`.",
    "at least": "`>=` in words.",
    "at most": "`<=` in words.",
}
"""What each word means, in one sentence (LANGUAGE.md section 3)."""

FUNCTION_HELP: Mapping[str, str] = {
    "len": "`len(x)`: how many elements, characters or fields.",
    "min": "`min(xs)` or `min(a, b)`: the smallest.",
    "max": "`max(xs)` or `max(a, b)`: the largest.",
    "sum": "`sum(xs)`: the total of a list of numbers.",
    "range": "`range(n)` or `range(a, b)`: the integers from the first up to, without, the last.",
    "join": '`join(xs, ", ")`: the elements as one text.',
    "split": '`split(text, ",")`: the parts of a text.',
    "lower": "`lower(text)`: in lower case.",
    "upper": "`upper(text)`: in upper case.",
    "trim": "`trim(text)`: without blanks around it.",
    "short": "`short(text, 60)`: on one line of at most so many characters, cut between words.",
    "round": "`round(x)` or `round(x, digits)`: rounded.",
    "keys": "`keys(x)`: the names of an object's fields.",
    "values": "`values(x)`: the values of an object's fields.",
    "json": "`json(x)`: the value as JSON text.",
    "group": "`group(xs by field)`: the elements of a list by the value of a field.",
}
"""What each small function gives."""

MODIFIER_HELP: Mapping[str, str] = {
    "model": "The model that answers this call; `null` is the binding's own.",
    "retry": "How often the call is tried again when the service was busy, unreachable, slow or unreadable.",
    "backoff": "How the waits between tries grow: `none`, `linear` or `exponential`.",
    "prompt": "What this call asks for, in words of its own.",
}
"""What each modifier of a call does (LANGUAGE.md section 4)."""

SECTION_HELP: Mapping[str, str] = {
    "slots": "The roles that the pattern leaves open: ``- `name`: who this is``, below it `requires` and `ensures`.",
    "config": "What can be set: ``- `name` (integer, default: 3): what it sets``.",
    "parameters": "What the spec is given: ``- `name`: what it is``, with `(optional)`.",
    "requires": "What the spec is given; another name for Parameters.",
    "inputs": "What the spec is given; another name for Parameters.",
    "returns": "What it gives back: a bullet that starts with a name declares an output.",
    "ensures": "What it gives back; another name for Returns.",
    "maintains": "What it gives back or keeps true; another name for Returns.",
    "invariants": "Sentences that always hold, one a bullet; those of known form are proved or watched.",
    "shape": "Who does what: `self`, `delegates` (the job of each slot), `prohibited`.",
    "patterns": "YAML: pattern instances with `name`, `pattern`, `with`, `config`.",
    "delegation": "The program of a pattern, in a fence labelled `prose`.",
    "delegation loop": "The JavaScript of a composite.",
    "execution": "The program of a function, in a fence labelled `prose`.",
    "errors": "The kinds of failure that a function can end in.",
    "strategies": "How the function goes about its work; the model is told.",
    "runtime": "Wishes about how the function is run.",
    "fixtures": "What a test gives: inputs, and stand-ins for slots.",
    "expects": "What a test's result has to be, one sentence a bullet.",
    "expects not": "What a test's result must not be, one sentence a bullet.",
    "goal": "What a responsibility is for.",
    "continuity": "What a responsibility keeps between its runs.",
}
"""What each section says (LANGUAGE.md section 1)."""
