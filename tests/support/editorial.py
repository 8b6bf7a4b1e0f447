"""A spec that names one of everything, for tests of what an editor is told."""

from __future__ import annotations

EDITORIAL = """\
---
name: editorial
kind: function
description: Writes and improves an article. Twice if need be.
---

# Editorial 🖋

### Parameters

- `topic`: what to write about
- `tone` (optional): how it shall sound

### Config

- `passes` (integer, default: 2): how often it is improved

### Patterns

```yaml
- name: argued
  pattern: dialectic
  with: {thesis: outliner, antithesis: critic}
  config: {rounds: 1}
```

### Returns

- `article`: the text
- `rounds`: how many passes it took

### Execution

```prose
use "dialectic" as debate

block polish(draft):
  let clean = trim(draft)
  return clean

let plan = call outliner
  topic: topic
let text = plan.outline
let rounds = 0
repeat passes as round:
  rounds = rounds + 1
  let verdict = call critic
    text: "🖋🖋 {topic} in {tone}: {text}"
  if verdict accepted and round >= 1:
    break
  emit "round {round} of {config.passes}"
let scores = parallel for item, i in [1, 2]:
  let text = "{item} of {passes}"
  text
let sides = call argued
  task_brief: topic
let more = call debate
  task_brief: "{topic}"
let polished = do polish(text)
return { article: polished, rounds }
```

## outliner

Makes an outline.

### Parameters

- `topic`: what it is about

### Returns

- `outline`: headings in order

## critic

### Parameters

- `text`: what to judge

### Returns

- `accepted` (boolean): whether it may be printed
- `advice`: what to change
"""
