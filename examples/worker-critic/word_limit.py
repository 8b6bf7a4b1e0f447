"""Accept a text of at most so many words: a service is any program that reads JSON and writes JSON."""

import json
import sys

limit = int(sys.argv[1])
words = len(json.load(sys.stdin)["inputs"]["work"].split())
accepted = words <= limit
critique = None if accepted else f"{words} words; at most {limit} are allowed"
json.dump({"accepted": accepted, "critique": critique}, sys.stdout)
