"""Counts tokens with the tokenizer for Claude that litellm holds: a list of texts comes in, their counts go out."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer


def main() -> None:
    home = Path(find_spec("litellm").origin).parent  # without importing it, which takes seconds
    tokenizer = Tokenizer.from_file(str(home / "litellm_core_utils" / "tokenizers" / "anthropic_tokenizer.json"))
    texts = json.load(sys.stdin)
    json.dump([len(encoding.ids) for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)], sys.stdout)


if __name__ == "__main__":
    main()
