"""Renderers, one file a format."""
