"""A role that repeats its voice, its background and its language."""

import json
import sys

instructions = json.load(sys.stdin)["instructions"].splitlines()
print("\n".join(line for line in instructions if line.startswith(("Voice", "Nine people", "Write in this"))))
