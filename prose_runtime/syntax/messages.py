"""What to say about a line that cannot be read: a table of bad lines, which is at once its own test."""

from __future__ import annotations

import re

from prose_runtime.diagnostics import near
from prose_runtime.records import dataclass
from prose_runtime.text import Span, compiled


@dataclass(frozen=True, slots=True)
class Slip:
    """A known way to get a line wrong.

    ``pattern`` is matched at the start of the line, ``message`` says what is wrong, ``help`` what to write, and
    ``example`` is a line that gets this message, at the text ``marked``. ``{word}`` stands for the pattern's group of
    that name; its group ``at`` is the place, which else is where reading stopped.
    """

    pattern: str
    message: str
    help: str
    example: str
    marked: str


@dataclass(frozen=True, slots=True)
class Explained:
    """A sentence about a fault, where it is, and what to write instead."""

    span: Span
    message: str
    help: str


_NAME = r"[A-Za-z_][\w-]*"
_COMPARES = r"(?:(?<![-=<>!])[<>]=?|(?<![=!<>])[=!]=)(?![=>])"

STATEMENTS = (
    Slip(r"(?P<at>//|/\*|--)", "a remark starts with `#`", "write `# remark`", "// remark", "//"),
    Slip(
        r"(?P<at>elseif|elsif|elif(?=\s*\())", "the word is `elif`", "write `elif condition:`", "elseif done:", "elseif"
    ),
    Slip(r"(?P<at>unless)\s", "there is no `unless`", "write `if not condition:`", "unless done:", "unless"),
    Slip(r"(?P<at>foreach)\s", "`for each` is two words", "write `for each x in xs:`", "foreach x in xs:", "foreach"),
    Slip(r"loop\s+(?P<at>[\w.]+(?:\s+times)?)\s*:", "`loop` takes no count", "write `repeat 3:`", "loop 3:", "3"),
    Slip(
        r"repeat\s+(?P<at>until|while)\s",
        "`repeat` takes a count",
        "write `loop until condition:`",
        "repeat until done:",
        "until",
    ),
    Slip(
        r"(?:.*=\s*)?(?P<at>await)\s",
        "nothing has to be awaited",
        "leave `await` out",
        "let x = await call writer",
        "await",
    ),
    Slip(r"(?:.*=\s*)?(?P<at>call)\s*:?$", "`call` needs a target", "write `call name`", "let x = call", "call"),
    Slip(
        r'(?:.*=\s*)?call\s+(?P<at>(?P<quote>["\']).*?(?:(?P=quote)|$))',
        "the target of `call` stands without quotes",
        "write `call name`",
        'call "critic"',
        '"critic"',
    ),
    Slip(
        r"(?P<at>(?P<word>let|const)\s+[^=]*)$",
        "`{word}` needs a name, `=` and a value",
        "write `{word} name = value`",
        "let draft",
        "let draft",
    ),
    Slip(r"(?P<at>(?P<word>let|const))\s*=", "`{word}` needs a name", "write `{word} name = value`", "let = 3", "let"),
    Slip(
        rf"(?P<word>let|const)\s+{_NAME}\s*(?P<at>:[^=]*?)\s*=",
        "a name has no type here",
        "write `{word} name = value`",
        "let x: string = 3",
        ": string",
    ),
    Slip(
        r"(?:(?:parallel|loop)\s+)?for\s+(?!.*\sin\s)", "`for` needs `in`", "write `for x in xs:`", "for x of xs:", "of"
    ),
    Slip(
        r"(?:parallel\s+)?(?P<at>repeat)\s*(?::|as\b|$)",
        "`repeat` needs a count",
        "write `repeat 3:`",
        "repeat:",
        "repeat",
    ),
    Slip(
        r"record\s+(?!.*\sin\s)", "`record` needs `in`", "write `record value in list`", "record draft", "record draft"
    ),
    Slip(
        r"append\s", "`append` needs a value and a list", "write `append value to list`", "append draft", "append draft"
    ),
    Slip(r"add\s", "`add` needs `to` and a list", "write `add value to list`", "add draft", "add draft"),
    Slip(r"emit\s*$", "`emit` needs a value", 'write `emit "text"`', "emit", "emit"),
    Slip(r"sleep\s*$", "`sleep` needs a time", "write `sleep 2s`", "sleep", "sleep"),
    Slip(
        r"(?P<at>while)(?![\w-])",
        "`while` stands behind `loop`",
        "write `loop while condition:`",
        "while x > 3",
        "while",
    ),
    Slip(
        r"(?P<at>until)(?![\w-])",
        "`until` stands behind `loop`",
        "write `loop until condition:`",
        "until done",
        "until",
    ),
    Slip(
        r"(?P<at>except|rescue)(?![\w-])",
        "errors are caught with `catch`",
        "write `catch as e:`",
        "except Error as e:",
        "except",
    ),
    Slip(r"catch\s", "`catch` names the error with `as`", "write `catch as e:`", "catch e:", "e"),
    Slip(r"(?P<at>elif|else\s+if|if)\s*:?$", "the condition is missing", "write `if condition:`", "if:", "if"),
    Slip(r"else\s", "`else` takes no condition", "write `elif condition:` or `else:`", "else when done:", "when"),
    Slip(r"(?P<at>option)\s*:", "`option` needs a label", 'write `option "label":`', "option:", "option"),
    Slip(r"(?P<at>choice)\s*:", "`choice` needs criteria", "write `choice what to decide by:`", "choice:", "choice"),
    Slip(
        r"(?P<at>def|function|func|fn|define)\s",
        "a block is defined with `block`",
        "write `block name(a, b):`",
        "def f(x):",
        "def",
    ),
    Slip(
        r"(?P<at>(?:print|echo|log|say|puts)(?=(?:\s|\()(?!.*=))|console\.log)",
        "a line for the person watching is written with `emit`",
        'write `emit "text"`',
        'print "done"',
        "print",
    ),
    Slip(
        r"(?P<at>switch|case|match|when)\s.*:$",
        "there is no `switch`",
        "write `if`, `elif` and `else`",
        "switch x:",
        "switch",
    ),
    Slip(r"import\s|from\s", "`import` takes a string", 'write `use "reference" as name`', "import os", "os"),
    Slip(r"use\s", "`use` takes a string", 'write `use "reference" as name`', "use critic", "critic"),
    Slip(r"(?P<at>agent)\s*:", "`agent` needs one name", "write `agent name:`", "agent:", "agent"),
    Slip(
        rf"agent\s+(?P<at>{_NAME}\s[^:]*)",
        "`agent` needs one name",
        "write `agent name:`",
        "agent the critic:",
        "the critic",
    ),
    Slip(
        r"(?P<at>session)\s*(?:$|:\s*$)",
        "`session` needs a text or an agent",
        'write `session "text"`',
        "session:",
        "session",
    ),
    Slip(
        rf"{_NAME}(?:\.{_NAME})*\s*(?P<at>(?P<word>[+\-*/])=)",
        "there is no `{word}=`",
        "write `x = x {word} 1`",
        "count += 1",
        "+=",
    ),
    Slip(
        rf"(?P<at>gate)\s+(?:\"|{_NAME}\s*$)",
        "`gate` needs a name for the answer",
        'write `gate name: "text"`, or `ask "text"`',
        'gate "May it ship?"',
        "gate",
    ),
    Slip(
        rf"(?:.*[=(:,]\s*)?(?P<at>gate)\s+(?:\"|(?<=[=(:,] gate ){_NAME}\s*:)",
        "`gate` is a statement and has no value",
        'write `ask "text"` for a value, or `gate name: "text"` on a line of its own',
        'let ok = gate "May it ship?"',
        "gate",
    ),
    Slip(rf"{_NAME}\s*(?P<at>\+\+|--)$", "there is no `++` or `--`", "write `x = x + 1`", "count++", "++"),
    Slip(r".*?(?P<at>&&)", "`&&` is written `and`", "write `and`", "let x = a && b", "&&"),
    Slip(r".*?(?P<at>\|\|)", "`||` is written `or`", "write `or`", "let x = a || b", "||"),
    Slip(
        r".*?(?P<at>=>)",
        "there are no arrow functions",
        "write `xs | map:` with an indented body",
        "let y = xs.map(x => x)",
        "=>",
    ),
    Slip(r".*?(?P<at>===)", "`===` is written `==`", "write `==`", "let x = a === b", "==="),
    Slip(
        rf".*?{_COMPARES}(?:(?!\b(?:and|or|if|else|then|not|in)\b)[^<>=,;:()\[\]{{}}|])+(?P<at>{_COMPARES})",
        "one comparison does not follow another",
        "write `a < b and b < c`",
        "let x = 1 < n <= 3",
        "<=",
    ),
    Slip(
        r".*?\s(?P<at>\?)\s",
        "this is no choice between two values",
        "write `a if condition else b`",
        "return a ? b",
        "?",
    ),
    Slip(
        r"(?:.*[=:]\s*|return\s+|emit\s+).*\s(?P<at>if)\s(?!.*\selse(?:\s|$))",
        "an `if` inside a value needs its `else`",
        "write `a if condition else b`, or `null` behind `else`",
        "let x = a if b",
        "if",
    ),
    Slip(
        r".*\|\s*(?P<at>(?P<word>\w+))",
        "`| {word}` is no stage of a pipeline",
        "the stages are `map`, `pmap`, `filter` and `reduce`",
        "let x = xs | sort: item",
        "sort",
    ),
    Slip(r".*(?P<at>;)$", "no semicolon ends a statement", "leave it out", "let x = 3;", ";"),
    Slip(
        rf".*{_NAME}\.(?P<at>(?P<word>{_NAME}))\(",
        "values have no methods, so `.{word}(...)` means nothing",
        'use a small function, as in `len(xs)` or `join(xs, ", ")`',
        "let x = names.join(3)",
        "join",
    ),
    Slip(
        r".*\w\s+(?P<at>\[)",
        "the bracket of an index stands directly behind the name",
        "write `xs[0]`",
        "let x = xs [0]",
        "[",
    ),
    Slip(
        r"(?:.*=\s*)?call\s+[\w.-]+\s+(?P<at>[^:]*)$",
        "what stands behind the target is no input",
        "write the inputs as `name: value`, below the call or behind its target",
        "call critic draft",
        "draft",
    ),
    Slip(
        rf"(?P<at>(?P<word>{_NAME})\s*:)",
        "`{word}:` is no statement",
        "an input stands below its call and is indented; a value is assigned with `=`",
        "topic: topic",
        "topic:",
    ),
    Slip(r"(?P<at>-) ", "a list item stands below the input it belongs to", "write `name:` above it", "- one", "-"),
)

ENTRIES = (
    Slip(
        rf"(?P<word>{_NAME})\s*(?P<at>=)(?!=)",
        "an input is written with a colon",
        "write `{word}: value`",
        "topic = topic",
        "=",
    ),
    *(slip for slip in STATEMENTS if slip.pattern.startswith((".*", "(?:.*"))),
)

WORDS = (
    "let|const|return|throw|emit|record|append|add|sleep|use|import|agent|block|input|output|if|elif|else|choice|option"
    "|repeat|for|loop|parallel|try|catch|finally|do|call|session|resume|ask|gate"
)
"""The words that begin a statement, as alternatives of a pattern."""

ENGLISH = Slip(
    rf"(?!(?:{WORDS})\s)[A-Za-z][\w'’,-]*(?:\s+[\w'’,()-]+){{2,}}[.!?:]?$",
    "this reads as English, and a program has statements",
    "let a role do it: `call name` with its inputs below; or keep it as a comment with `#`, or show it with `emit`",
    "Then ask the critic to review it.",
    "Then ask the critic to review it.",
)


def explain(text: str, span: Span, position: int, role: str) -> Explained:
    """The sentence for a line that is no ``role``; reading stopped at an offset ``position`` of ``text``."""
    line, places = _folded(text, span)
    table = {"statement": STATEMENTS, "entry": ENTRIES}.get(role, ENTRIES[1:])
    for slip in table:
        match = re.match(slip.pattern, line)
        if match:
            at = match.span("at") if "at" in match.groupdict() else (0, 0)
            place = Span(places[at[0]], places[at[1] - 1] + 1) if at[1] > at[0] else _place(text, span, position)
            return _filled(slip, match, place)
    meant = _misspelt(text, span) if role == "statement" else None
    if meant is not None:
        return meant
    if re.match(ENGLISH.pattern, line):
        return Explained(span, ENGLISH.message, ENGLISH.help)
    return _unexpected(text, span, position, role)


def slip_in(text: str, span: Span) -> Explained | None:
    """The known way in which the text of a span went wrong as a value, where the table tells the very place."""
    line, places = _folded(text, span)
    for slip in ENTRIES[1:]:
        match = re.match(slip.pattern, line) if "(?P<at>" in slip.pattern else None
        if match:
            at = match.span("at")
            return _filled(slip, match, Span(places[at[0]], places[at[1] - 1] + 1))
    return None


_FOLD = r'"(?:[^"\\\n]|\\.)*"|\s+|.'


def _folded(text: str, span: Span) -> tuple[str, list[int]]:
    """The line with single blanks, what its strings say made unreadable; and where each of its characters stands."""
    line, places = "", list[int]()
    for piece in compiled(_FOLD).finditer(text, span.start, min(span.end, span.start + 2000)):
        found = piece[0]
        folded = " " if found.isspace() else f'"{"_" * (len(found) - 2)}"' if len(found) > 1 else found
        line += folded
        places += range(piece.start(), piece.start() + len(folded))
    return line, places


def _misspelt(text: str, span: Span) -> Explained | None:
    """A line whose first word is nearly one that begins a statement."""
    match = re.compile(r"[ \t]*([a-z]+)(?=\s)").match(text, span.start, span.end)
    close = near(match[1], WORDS.split("|"), 1, 0.8) if match else []
    if match is None or not close or close[0] == match[1]:
        return None
    return Explained(Span(*match.span(1)), f"`{match[1]}` begins no statement", f"did you mean `{close[0]}`?")


def _filled(slip: Slip, match: re.Match[str], place: Span) -> Explained:
    word = match.groupdict().get("word") or ""
    return Explained(place, slip.message.replace("{word}", word), slip.help.replace("{word}", word))


def _place(text: str, span: Span, position: int) -> Span:
    """The word at which reading stopped, or the whole line when it stopped at its end."""
    match = re.compile(r"[ \t\n]*([\w-]+|[^ \t\n])").match(text, position, span.end)
    return Span(*match.span(1)) if match else span


def last_word(text: str, span: Span) -> Span:
    """The last word or sign of a line."""
    end = span.start + len(text[span.start : span.end].rstrip())
    start = max(span.start, end - 100)
    match = re.search(r"(?:[\w-]+|[^\s\w]+)\Z", text[start:end])
    return Span(start + match.start(), end) if match else span


_BEFORE = "look at what stands before it: an operator, a comma, a colon or a line break may be missing"


def _wanted(role: str) -> str:
    if role == "statement":
        return "a statement starts with a word such as `let`, `call`, `if`, `for`, `return`, or is an assignment"
    if role == "entry":
        return "an input is written `name: value`"
    return "a value is a name, a string, a number, a list, an object, or these joined by operators"


def _unexpected(text: str, span: Span, position: int, role: str) -> Explained:
    place = _place(text, span, position)
    wanted = _wanted(role) if position <= span.start or position >= span.end else _BEFORE
    if position >= span.end:
        return Explained(last_word(text, span), "this line ends too early", wanted)
    word = text[place.start : place.end]
    if not word.isascii() or not word.isprintable():
        code = f"U+{ord(word[0]):04X}"
        return Explained(place, f"the character {code} has no meaning here", "put text in double quotes; " + wanted)
    return Explained(place, f"`{word}` has no meaning here", wanted)
