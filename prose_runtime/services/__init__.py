"""Things that answer requests: models, people, commands and scripts."""
