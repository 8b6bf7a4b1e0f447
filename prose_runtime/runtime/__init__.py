"""The interpreter: it walks a checked program and asks services."""
