"""What is shown for editors under ``examples/editors``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from prose_runtime.lsp.textmate import dumps, grammar
from prose_runtime.lsp.words import FUNCTION_HELP, words
from support.commands import ROOT

EDITORS = ROOT / "examples" / "editors"
VSCODE = EDITORS / "vscode"
COMMAND = ["prose", "lsp"]


def test_the_grammar_of_the_colours_is_made_of_the_languages_own() -> None:
    made = "python -m prose_runtime.lsp.textmate > examples/editors/vscode/syntaxes/prosescript.tmLanguage.json"
    shown = (VSCODE / "syntaxes" / "prosescript.tmLanguage.json").read_text(encoding="utf-8")
    assert shown == dumps(), f"make it anew: {made}"
    assert made in (EDITORS / "README.md").read_text(encoding="utf-8")


def test_it_is_made_without_pygls() -> None:
    script = "import sys, runpy; sys.modules['pygls'] = sys.modules['lsprotocol'] = None\n"
    script += "runpy.run_module('prose_runtime.lsp.textmate', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == dumps()


def kinds(line: str) -> dict[str, str]:
    """Each word of a line with the scope that the first matching rule gives it, as an editor goes along the line."""
    rules = [rule for rule in grammar()["repository"].values() if "match" in rule]
    found: dict[str, str] = {}
    at = 0
    while at < len(line):
        hits = [
            (m.start(), order, rule, m)
            for order, rule in enumerate(rules)
            if (m := re.compile(rule["match"]).search(line, at))
        ]
        if not hits:
            break
        _, _, rule, match = min(hits, key=lambda hit: hit[:2])
        if "name" in rule:
            found[match[0]] = rule["name"].removesuffix(".prosescript")
        for group, capture in rule.get("captures", {}).items():
            found[match[int(group)]] = capture["name"].removesuffix(".prosescript")
        at = max(match.end(), at + 1)
    return found


@pytest.mark.parametrize(
    ("line", "word", "kind"),
    [
        ("let draft = call writer", "let", "storage.type"),
        ("let draft = call writer", "draft", "variable.other.definition"),
        ("let draft = call writer", "writer", "entity.name.function.call"),
        ("  topic: draft  # as it is", "topic", "variable.parameter"),
        ("  topic: draft  # as it is", "# as it is", "comment.line.number-sign"),
        ("repeat 3 as round:", "repeat", "keyword.control"),
        ("repeat 3 as round:", "3", "constant.numeric"),
        ("if score is at least 0.5:", "at least", "keyword.operator.word"),
        ("xs | map: item", "map", "keyword.control"),
        ("emit len(xs)", "len", "support.function"),
        ("x = null", "null", "constant.language"),
        ("session: scout", "session", "keyword.control"),
    ],
)
def test_words_have_their_colours(line: str, word: str, kind: str) -> None:
    assert kinds(line)[word] == kind


@pytest.mark.parametrize(
    "line",
    [
        "record = 3", "record.field", "a-record", "emit_all()", "x.call", "best = choice", "note: note  # as it is",
        "{ output, option }", "[choice]", "choice is absent", "option, i", "input + output",
    ],
)  # fmt: skip
def test_names_spelt_like_words_are_names(line: str) -> None:
    assert not [kind for kind in kinds(line).values() if kind.startswith(("keyword.control", "support"))]


def test_every_word_has_a_colour() -> None:
    for word in {word for group in words().values() for word in group} - {"call", "do", "agent", "block"}:
        assert word in kinds(f"x {word} y"), word
    for word in FUNCTION_HELP:
        assert word in kinds(f"x {word}(y)"), word


def test_the_extension_names_files_that_are_there() -> None:
    package = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
    contributed = package["contributes"]
    named = [package["main"]]
    named += [grammar["path"] for grammar in contributed["grammars"]]
    named += [language["configuration"] for language in contributed["languages"]]
    assert [name for name in named if not (VSCODE / name).is_file()] == []
    for grammar_ in contributed["grammars"]:
        shown = json.loads((VSCODE / grammar_["path"]).read_text(encoding="utf-8"))
        assert shown["scopeName"] == grammar_["scopeName"]
    assert contributed["configuration"]["properties"]["prose.command"]["default"] == COMMAND
    json.loads((VSCODE / "language-configuration.json").read_text(encoding="utf-8"))
    assert f"{package['name']}-{package['version']}.vsix" in (EDITORS / "README.md").read_text(encoding="utf-8")


def test_fences_of_markdown_get_the_colours() -> None:
    shown = json.loads((VSCODE / "syntaxes" / "fences.tmLanguage.json").read_text(encoding="utf-8"))
    short, long = (re.compile(fence["begin"].replace("\\G", "^")) for fence in shown["patterns"])
    assert all(short.match(line) for line in ("```prose", "  ```prosescript", "~~~ prose"))
    assert not any(short.match(line) or long.match(line) for line in ("```python", "```proses", "prose"))
    assert not short.match("````prose")
    assert long.match("````prose")
    for fence, inside, closing in zip(shown["patterns"], ("```json", "```"), ("```", "````"), strict=True):
        goes_on = re.compile(fence["patterns"][0]["while"].replace("\\G", "^"))
        assert goes_on.match(inside)
        assert not goes_on.match(closing)
        assert grammar()["scopeName"] in json.dumps(fence["patterns"])


def test_the_settings_of_helix() -> None:
    settings = tomllib.loads((EDITORS / "helix" / "languages.toml").read_text(encoding="utf-8"))
    server = settings["language-server"]["prose"]
    assert [server["command"], *server["args"]] == COMMAND
    assert {language["name"] for language in settings["language"]} == {"markdown", "prosescript"}
    assert all("prose" in language["language-servers"] for language in settings["language"])


def test_the_settings_of_neovim() -> None:
    shown = (EDITORS / "neovim" / "prose.lua").read_text(encoding="utf-8")
    assert 'cmd = { "prose", "lsp" }' in shown
    assert shown.count("{") == shown.count("}")
    assert shown.count("(") == shown.count(")")


def test_the_extension_is_javascript(tmp_path: Path) -> None:
    import quickjs

    text = (VSCODE / "extension.js").read_text(encoding="utf-8")
    shown: list[str] = []
    context = quickjs.Context()
    context.add_callable("told", shown.append)
    context.eval(
        """
        globalThis.started = [];
        class LanguageClient {
          constructor(...given) { this.given = given; }
          start() { started.push(this.given); return Promise.reject(new Error("ENOENT")); }
          stop() { return Promise.resolve(); }
        }
        globalThis.workspace = {
          getConfiguration: () => ({ get: () => ["prose", "lsp"] }),
          createFileSystemWatcher: (pattern) => pattern,
        };
        const vscode = { workspace, window: { showErrorMessage: told } };
        globalThis.require = (name) => name === "vscode" ? vscode : { LanguageClient };
        globalThis.module = {};
        """
    )
    context.eval(f"(() => {{ {text} }})(); module.exports.activate({{}})")
    while context.execute_pending_job():
        pass
    assert json.loads(context.eval("JSON.stringify(started[0][2])")) == {"command": "prose", "args": ["lsp"]}
    assert "pip install 'prose-runtime[lsp]'" in shown[0]
