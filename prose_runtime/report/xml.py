"""What all XML reports need: the document's form, and text that XML can hold."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from prose_runtime.values import clean_text

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def allowed(text: str) -> str:
    """The text with each character that XML cannot hold replaced by U+FFFD."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", clean_text(text))


def document(root: ET.Element) -> str:
    """The indented document, with a newline at its end."""
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
