"""A run as one HTML file that needs no network and runs no script."""

from __future__ import annotations

import base64
import hashlib

from prose_runtime.report.reading import TEMPLATES, environment
from prose_runtime.report.story import JUDGE, Story
from prose_runtime.report.story_chart import chart_of

ROLE_COLOURS = 8
"""How many roles are told apart by colour before colours repeat."""


def render(story: Story) -> str:
    """The page. Its policy lets a browser load nothing and apply only the page's own style sheet."""
    style = (TEMPLATES / "run.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    from markupsafe import Markup

    values = {
        "story": story,
        "chart": chart_of(story),
        "style": Markup(style),
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        "colours": {role: i % ROLE_COLOURS for i, role in enumerate(dict.fromkeys([*story.roles, JUDGE]))},
    }
    return environment(html=True).get_template("run.html.jinja2").render(values)
