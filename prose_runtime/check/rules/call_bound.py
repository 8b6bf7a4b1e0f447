"""More calls than `--max-calls` allows.

What it does
    With `prose check --max-calls N`, reports a spec that can make more than N calls of roles with its default config,
    or any number of them, at the loop or call that causes most of them. `prose show SPEC --calls` shows the whole sum.

Why
    A pattern that asks models costs money and time with each call. In CI this holds a spec to a figure before anything
    is called, also when somebody raises a default or adds a loop within a loop.

Example
    ```prose
    loop until review accepted:
      let review = call critic
    ```

Use instead
    ```prose
    loop until review accepted (max: 5):
      let review = call critic
    ```
"""

from __future__ import annotations

from prose_runtime.check.rule import Rule

RULE = Rule("call-bound", "error", None, __doc__)
