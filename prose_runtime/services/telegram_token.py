"""Where the token of a Telegram bot comes from: the environment or a file that nobody else can read, never a spec."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from prose_runtime.errors import UsageError
from prose_runtime.resources import user_config

VARIABLES = ("PROSE_TELEGRAM_TOKEN", "TELEGRAM_BOT_TOKEN")
"""The environment variables that may hold the token, in this order."""

FILE_NAME = "telegram-token"
"""The file of the user's config folder that may hold it, with mode 600."""

_SHAPE = re.compile(r"\d+:[\w-]{20,}")


def find_token(variable: str | None = None) -> str:
    """The token: of the ``variable`` that prose.yml names, else of the environment, else of the config file.

    Raises:
        UsageError: There is none, others can read the file, or what is there has not the form of a token.
    """
    for name in (variable,) if variable else VARIABLES:
        value = os.environ.get(name, "").strip()
        if value:
            return _checked(value, f"the variable {name}")
    path = user_config().with_name(FILE_NAME)
    if variable is None and path.is_file():
        return _checked(_private(path), str(path))
    places = f"put it into the environment as {variable or VARIABLES[0]}"
    if variable is None:
        places += f", or into {path} with mode 600"
    raise UsageError("there is no token for the Telegram bot", help=f"get one from @BotFather and {places}")


def _private(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UsageError(
                f"{path} holds the token of a bot and others can read it (mode {stat.S_IMODE(mode):o})",
                help=f"chmod 600 {path}",
            )
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def _checked(token: str, place: str) -> str:
    if not _SHAPE.fullmatch(token):
        raise UsageError(
            f"{place} holds no token of a Telegram bot", help="a token is a number, a colon and 35 letters or digits"
        )
    return token
