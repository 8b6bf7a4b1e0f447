"""What editors ask of spec files, as a language server: ``prose lsp``.

``server`` speaks the protocol; each of its answers has a file of its own that knows nothing of the connection.
"""
