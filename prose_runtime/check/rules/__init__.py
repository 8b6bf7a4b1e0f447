"""The checker's rules, one file each; a rule's docstring is its explain page."""
