"""Count the words of one part of a text."""

import json
import sys

words = json.load(sys.stdin)["inputs"]["chunk"].split()
json.dump(f"{len(words)} words, the longest {max(words, key=len)}", sys.stdout)
