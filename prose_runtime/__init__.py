"""Runs OpenProse Markdown patterns: exact control flow, intelligent slots, checked contracts."""
