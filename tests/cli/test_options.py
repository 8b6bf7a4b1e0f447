"""A spec's slots, config and inputs as options of the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from prose_runtime.check.tables import Analysis
from prose_runtime.cli import options
from prose_runtime.errors import UsageError
from prose_runtime.nodes import ConfigItem, Parameter, Slot, Spec
from prose_runtime.text import Source, Span

AT = Span(0, 0)
BASE = Path("/nowhere")


def slot(name: str, **more: Any) -> Slot:
    return Slot(span=AT, name_span=AT, name=name, **more)


def config(name: str, type_: str | None = None, default: Any = None, **more: Any) -> ConfigItem:
    return ConfigItem(span=AT, name_span=AT, name=name, type=type_, default=default, **more)


def row(name: str, type_: str | None = None, **more: Any) -> Parameter:
    return Parameter(span=AT, name_span=AT, name=name, type=type_, **more)


def spec(*parts: Slot | ConfigItem | Parameter) -> Analysis:
    slots = tuple(p for p in parts if isinstance(p, Slot))
    configs = tuple(p for p in parts if isinstance(p, ConfigItem))
    rows = tuple(p for p in parts if isinstance(p, Parameter))
    own = {s.name for s in (*slots, *configs)}
    node = Spec(
        span=AT, name_span=AT, source=Source("s.prose.md", ""), name="s", kind="pattern", frontmatter={},
        slots=slots, config=configs, parameters=rows,
    )  # fmt: skip
    return Analysis(node, inputs={r.name: r for r in rows if r.name not in own})


def parse(analysis: Analysis, *words: str, base: Path = BASE) -> options.Words:
    said = options.parse(analysis, "s", words, base)
    assert isinstance(said, options.Words)
    return said


def fault(analysis: Analysis, *words: str, base: Path = BASE) -> str:
    with pytest.raises(UsageError) as caught:
        options.parse(analysis, "s", words, base)
    return f"{caught.value.message}\nhelp: {caught.value.help}"


DEBATE = spec(
    slot("for_side"),
    slot("judges", is_list=True),
    config("rounds", "integer", 2),
    config("tone", "calm | sharp", "calm"),
    config("brief", "boolean", False),
    row("motion", "string", description="what is argued"),
    row("facts", "string[]", optional=True),
    row("scores", "number[]", optional=True),
    row("meta", "object", optional=True),
)


def test_input_fills_the_first_required_text_input() -> None:
    assert parse(DEBATE, "Tabs beat spaces").inputs == {"motion": "Tabs beat spaces"}
    two = spec(row("a", "object"), row("b"), row("c"))
    assert parse(two, "x", "--c", "y").inputs == {"b": "x", "c": "y"}
    assert parse(two, "x", "--b", "y").inputs == {"c": "x", "b": "y"}


def test_an_input_too_many_is_an_error() -> None:
    assert "INPUT" in fault(DEBATE, "x", "--motion", "y")
    assert "quotes" in fault(DEBATE, "two", "words")
    assert "INPUT" in fault(spec(row("a", "object")), "x")


@pytest.mark.parametrize("spelling", ["--for-side", "--for_side"])
def test_dash_and_underscore_mean_the_same(spelling: str) -> None:
    assert parse(DEBATE, spelling, "claude").bind == {"for_side": "claude"}
    assert parse(DEBATE, f"{spelling}=claude").bind == {"for_side": "claude"}
    assert parse(spec(row("quality-bar")), "--quality_bar", "a_b").inputs == {"quality-bar": "a_b"}


def test_list_slots_repeat_or_take_commas() -> None:
    assert parse(DEBATE, "--judges", "a, b", "--judges", "c").bind == {"judges": ["a", "b", "c"]}
    assert "one service" in fault(DEBATE, "--for-side", "a", "--for-side", "b")


def test_list_inputs_repeat_and_keep_their_commas() -> None:
    assert parse(DEBATE, "--facts", "one, two", "--facts", "three").inputs["facts"] == ["one, two", "three"]
    assert parse(DEBATE, "--facts", '["a", "b"]').inputs["facts"] == ["a", "b"]
    assert parse(DEBATE, "--scores", "1,2.5").inputs["scores"] == [1, 2.5]


def test_values_get_the_declared_type() -> None:
    said = parse(DEBATE, "--rounds", "3", "--brief", "--tone", "sharp", "--meta", '{"a": [1]}')
    assert said.config == {"rounds": 3, "brief": True, "tone": "sharp"}
    assert said.inputs == {"meta": {"a": [1]}}
    assert parse(DEBATE, "--no-brief").config == {"brief": False}
    assert parse(spec(config("n", None, 3), config("f", None, 0.5)), "--n", "4", "--f", "1").config == {"n": 4, "f": 1}


def test_a_text_stays_text_whatever_it_looks_like() -> None:
    assert parse(spec(row("a", "string"), row("b")), "--a", "[1]", "--b", "3").inputs == {"a": "[1]", "b": "3"}


def test_json_for_an_input_without_a_type() -> None:
    given = parse(spec(row("a"), row("b")), "--a", '{"x": 1}', "--b", "{broken").inputs
    assert given == {"a": {"x": 1}, "b": "{broken"}


def test_all_wrong_values_are_told_at_once() -> None:
    said = fault(DEBATE, "--rounds", "two", "--tone", "loud", "--meta", "x", "--scores", "1,b")
    for word in (
        "--rounds",
        "integer",
        "two",
        "--tone",
        "calm",
        "sharp",
        "--meta",
        "JSON object",
        "--scores",
        "number",
    ):
        assert word in said
    assert "integer" in fault(DEBATE, "--rounds", "2.5")


def test_an_unknown_option_is_an_error_with_the_closest() -> None:
    assert "--rounds" in fault(DEBATE, "--round", "3")
    assert "--help" in fault(DEBATE, "--zzzz", "3")
    assert "--rounds" in fault(DEBATE, "--rounds")


def test_inputs_by_name_from_values_and_files(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("from a file\n")
    said = parse(DEBATE, "--input", "motion=@m.txt", "--input", "rounds=4", "--input", "brief=true", base=tmp_path)
    assert said.inputs == {"motion": "from a file"}
    assert said.config == {"rounds": 4, "brief": True}
    assert "cannot read" in fault(DEBATE, "--input", "motion=@missing.txt", base=tmp_path)
    assert "NAME=VALUE" in fault(DEBATE, "--input", "motion")
    assert "motion" in fault(DEBATE, "--input", "motoin=x")


def test_a_file_of_inputs_gives_way_to_the_command_line(tmp_path: Path) -> None:
    values = {"motion": "file", "rounds": 9, "meta": {"a": 1}, "judges": ["a"], "for_side": "b"}
    (tmp_path / "in.json").write_text(json.dumps(values))
    said = parse(DEBATE, "--inputs", "in.json", "--rounds", "1", base=tmp_path)
    assert said.inputs == {"motion": "file", "meta": {"a": 1}}
    assert said.config == {"rounds": 1}
    assert said.bind == {"judges": ["a"], "for_side": "b"}


@pytest.mark.parametrize(
    ("content", "word"), [("[1]", "JSON object"), ("{", "JSON"), ('{"nope": 1}', "nope"), ('{"judges": 1}', "judges")]
)
def test_a_wrong_file_of_inputs_is_told(tmp_path: Path, content: str, word: str) -> None:
    (tmp_path / "in.json").write_text(content)
    assert word in fault(DEBATE, "--inputs", "in.json", base=tmp_path)


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("words", [["-"], ["--motion", "-"], ["--input", "motion=@-"]])
def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    stdin(monkeypatch, "Grüße\nall\n".encode())
    assert parse(DEBATE, *words).inputs == {"motion": "Grüße\nall"}


def test_standard_input_is_read_once_and_must_be_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, b"x")
    assert "one input" in fault(DEBATE, "-", "--facts", "-")
    stdin(monkeypatch, b"\xff\xfe")
    assert "UTF-8" in fault(DEBATE, "-")


def test_a_general_option_wins_over_a_name_of_the_spec() -> None:
    clash = spec(config("json", "string"), row("quiet", "string"))
    said = parse(clash, "--json", "--input", "json=mine", "--input", "quiet=too")
    assert said.json
    assert (said.config, said.inputs) == ({"json": "mine"}, {"quiet": "too"})


def test_a_name_given_twice_is_an_error() -> None:
    assert "twice" in fault(DEBATE, "--motion", "x", "--input", "motion=y")


def test_lone_surrogates_of_the_command_line_are_replaced() -> None:
    assert parse(DEBATE, "a\udcffb").inputs == {"motion": "a\ufffdb"}


def test_help_lists_what_the_spec_takes_with_text_and_defaults() -> None:
    text = options.parse(DEBATE, "s", ["--help"], BASE)
    assert isinstance(text, str)
    for words in ("--for-side", "--judges", "--rounds", "default: 2", "calm|sharp", "--brief", "--no-brief"):
        assert words in text
    assert "What is argued [required]" in text
    assert "--no-record" in text


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (["s.md"], 0),
        (["--json", "s.md", "x"], 1),
        (["--quiet", "--input", "a=b", "s.md"], 3),
        (["--thesis=x", "s.md"], 1),
        (["--thesis", "x", "s.md", "in"], 2),
        (["--verbose", "known.md"], 1),
        (["--thesis", "known.md"], 1),
        (["--thesis", "x"], 1),
        (["--json"], None),
        ([], None),
    ],
)
def test_the_spec_is_found_anywhere_on_the_line(words: list[str], at: int | None) -> None:
    assert options.spec_word(words, lambda word: word == "known.md") == at
