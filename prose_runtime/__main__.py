"""``python -m prose_runtime``: the same as the command ``prose``."""

import sys

from prose_runtime.cli import main

sys.exit(main())
