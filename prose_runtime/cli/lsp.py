"""``prose lsp``."""

from __future__ import annotations

import click

from prose_runtime.errors import UsageError


@click.command(short_help="Serve an editor, as a language server.")
def lsp() -> int:
    """Serve an editor: faults as you type, completion, names, outline and fixes, over standard input and output.

    Editors start this command themselves; examples/editors has their settings.
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise UsageError("`prose lsp` needs pygls", help="install it with: pip install 'prose-runtime[lsp]'") from None
    from prose_runtime.lsp.server import serve

    return serve()
