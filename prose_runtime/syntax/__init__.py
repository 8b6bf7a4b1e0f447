"""Text to tree: Markdown sections, ProseScript, and the parser that joins them."""
