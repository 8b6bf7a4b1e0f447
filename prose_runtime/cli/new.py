"""``prose new``: a small spec that passes ``prose check`` and runs at once."""

from __future__ import annotations

import re
from pathlib import Path

import click

from prose_runtime.errors import UsageError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_SUFFIX = ".prose.md"

PATTERN = """\
---
name: NAME
kind: pattern
version: 0.1.0
description: A writer drafts, a reader says what is missing, the writer improves it.
---

# NAME

### Slots

- `writer` (primary)
  - requires: `task_brief`, optional `draft`, optional `remarks`
  - ensures: the text
- `reader`
  - requires: `task_brief`, `draft`
  - ensures: what is missing or wrong in the draft

### Config

- `rounds` (integer, default: 2): how many drafts are written

### Parameters

- Pattern instance receives:
    writer: string       -- who writes
    reader: string       -- who reads and remarks
    task_brief: string   -- what is to be written
    rounds: integer      -- (optional, default 2)

### Returns

- `result`: the last draft
- `drafts`: all drafts in order

### Invariants

- `writer` is called at most `rounds` times.

### Shape

- `self`: carry drafts and remarks between the two
- `delegates`:
  - `writer`: Write what the brief asks for. If there are remarks on a draft, improve the draft by them.
  - `reader`: Name what the draft lacks for the brief, the most important point first.

### Delegation

```prose
let drafts = []
let draft = null
let remarks = null

repeat rounds as round:
  let draft = call writer
    task_brief: task_brief
    draft: draft
    remarks: remarks
  append draft to drafts
  if round < rounds:
    let remarks = call reader
      task_brief: task_brief
      draft: draft

return { result: draft, drafts: drafts }
```
"""

FUNCTION = """\
---
name: NAME
kind: function
version: 0.1.0
description: Sum up a text for a reader.
---

# NAME

Sum up the text in at most three sentences. Keep names, numbers and what is uncertain; add nothing of your own.

### Parameters

- `text`: what to sum up
- `reader`: (optional) who will read it

### Returns

- `summary`: at most three sentences

### Strategies

- If the text is shorter than three sentences, return it as it is.
"""

TEST = """\
---
name: NAME
kind: test
subject: SUBJECT
---

# NAME

### Fixtures

- `task_brief`: a short note on why tests are worth their time

### Expects

- is not empty and is under 200 words
- a text that answers the brief

### Expects Not

- remarks to the author
"""

TEMPLATES = {"pattern": PATTERN, "function": FUNCTION, "test": TEST}

_TRIES = {
    "pattern": 'prose run {file} "what is to be written"',
    "function": 'prose run {file} "the text"',
    "test": "prose test {file}",
}


@click.command()
@click.argument("kind", type=click.Choice(list(TEMPLATES)))
@click.argument("name")
def new(kind: str, name: str) -> None:
    """Write NAME.prose.md, a small spec that runs at once, as a start for your own."""
    path = target(name, kind)
    own = path.name.removesuffix(_SUFFIX)
    subject = own.removesuffix(".test").removesuffix("-test")
    text = TEMPLATES[kind].replace("NAME", own).replace("SUBJECT", subject)
    write_new(path, text)
    click.echo(f"wrote {path}")
    click.echo(f"try:  {_TRIES[kind].format(file=path)}", err=True)


def target(name: str, kind: str) -> Path:
    """The file to write. Raises UsageError when the name can be no spec's name."""
    path = Path(name)
    own = path.name.removesuffix(_SUFFIX).removesuffix(".md")
    if not _NAME.fullmatch(own.removesuffix(".test") if kind == "test" else own):
        raise UsageError(
            f"`{name}` is no name for a spec", help="use letters, digits, `-` and `_`, such as `code-review`"
        )
    return path.with_name(own + _SUFFIX)


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet. Raises UsageError."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists already", help="choose another name, or remove the file first") from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
