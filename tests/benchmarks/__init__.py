"""How fast the runtime is, each figure beside a reference that is measured in the same run.

`python tests/benchmarks` prints a table of ratios and writes it as JSON; `python tests/benchmarks checking start` runs
these parts only, `--quick` with small sizes and few rounds. No figure is asserted anywhere: they depend on the machine.
Times are processor time unless a row says otherwise, so that a busy machine changes them little.

A part is a file of its own here with a function ``rows(scale)`` that yields ``measure.Row``, and a line in ``PARTS``.
"""

PARTS = ("checking", "start", "dispatch", "concurrency", "tokens")
"""The modules of this package that measure something, in the order of the table."""
