"""Settings of every test: nothing leaves this machine, and nobody's keys or settings matter."""

import os
import signal

from hypothesis import settings

from prose_runtime.depth import make_room

for name in [name for name in os.environ if name.startswith("PROSE_") or name.endswith("_API_KEY")]:
    del os.environ[name]
os.environ["PROSE_LIVE"] = "forbid"

collect_ignore = ["conformance"]
"""Its tests in our own format belong to its cases, which run them with their settings."""

# Hypothesis wants the limit of recursion to stay as it was, and the first check or run raises it.
make_room()

# What holds today holds tomorrow: the same examples each time, unless somebody looks for new ones with
# `--hypothesis-profile search`.
settings.register_profile("steady", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("steady")

# A shell lets what runs in the background ignore Ctrl-C, and the commands under test would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
