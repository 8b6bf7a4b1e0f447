"""The files that ``prose new`` writes: each passes ``prose check --strict`` and runs at once."""

from __future__ import annotations

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

PATTERN_TEST = """\
---
name: NAME-test
kind: test
subject: NAME
---

The remarks reach the writer, and the last draft is the result.

### Fixtures

- `task_brief`: "a short note on why tests are worth their time"
- `writer`:
  ```yaml
  rules:
    - when: {remarks: "/numbers/"}
      reply: "Tests find one fault in two."
  else: "Tests are good."
  ```
- `reader`: "it lacks numbers"

### Expects

- `result`: equals `Tests find one fault in two.`
- `drafts`: has 2 entries
"""

FUNCTION_TEST = """\
---
name: NAME-test
kind: test
subject: NAME
---

Replace the reply below by a service to test the text of the function itself.

### Fixtures

- `text`: "The tide comes in twice a day. Boats wait for it."
- `default`: "Boats wait for the tide, which comes twice a day."

### Expects

- `summary`: mentions `tide`
- `summary`: is under 30 words
"""

TEMPLATES = {"pattern": (PATTERN, PATTERN_TEST), "function": (FUNCTION, FUNCTION_TEST)}
"""The spec and its test, by kind. ``NAME`` stands for the name."""

TEST = """\
---
name: NAME-test
kind: test
subject: NAME
---

What this test shows.

FIXTURES### Expects

EXPECTS
"""
"""A test of a spec that is there; fixtures and expectations are made from what it declares."""
