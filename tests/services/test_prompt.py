import re

from hypothesis import given
from hypothesis import strategies as st

from prose_runtime.services.api import Request
from prose_runtime.services.prompt import render
from prose_runtime.values import ServiceRef

RICH = Request(
    job="JOB",
    inputs={
        "input_a": "VALUE-A",
        "input_b": [1, {"x": "VALUE-B"}],
        "nothing": None,
        "who": ServiceRef("REF", "SLOTNAME"),
    },
    prompt="PROMPT",
    schema={"type": "object", "title": "TITLE", "properties": {"score": {"type": "number", "description": "SAID"}}},
    options=("OPTION",),
    instructions="INSTRUCTIONS",
    persona="PERSONA",
    language="LANGUAGE",
    background="BACKGROUND",
    model="MODEL",
    rejected="REJECTED",
    fault="FAULT",
    target="SLOTNAME of PATTERNNAME",
    line=12,
)


def words(prompt):
    return set(re.findall(r"[A-Z][A-Z-]{3,}", prompt.system + prompt.user))


def test_a_role_is_told_what_the_request_holds_and_nothing_else():
    told = {"PROMPT", "SAID", "INSTRUCTIONS", "PERSONA", "LANGUAGE", "BACKGROUND", "REJECTED", "FAULT"}
    told |= {"VALUE-A", "VALUE-B", "JSON"}
    assert words(render(RICH)) == told
    prompt = render(RICH)
    assert "JOB" in prompt.system
    assert all(name in prompt.user for name in ("input_a", "input_b", "who", "REF", "score"))


def test_neither_pattern_nor_slot_is_named_in_the_runtimes_own_text():
    for purpose in ("call", "judge", "choice"):
        for schema in (None, RICH.schema):
            prompt = render(RICH.with_(purpose=purpose, schema=schema))
            text = (prompt.system + prompt.user).lower()
            for name in ("slotname", "patternname", "line 12", "pattern", "slot", "title", "model"):
                assert name not in text


def test_the_stable_part_does_not_change_with_the_call():
    first = render(RICH)
    second = render(RICH.with_(inputs={"input_a": "other </input_a>"}, prompt="again", rejected=None, fault=None))
    assert first.system == second.system
    for part in ("VALUE-A", "PROMPT", "REJECTED"):
        assert part not in first.system
    for part in ("JOB", "PERSONA", "INSTRUCTIONS", "BACKGROUND", "LANGUAGE"):
        assert part in first.system
        assert part not in first.user


def test_inputs_come_first_then_the_prompt_then_the_shape_then_the_repair():
    user = render(RICH).user
    order = [user.index(part) for part in ("VALUE-A", "VALUE-B", "PROMPT", "score", "REJECTED", "FAULT")]
    assert order == sorted(order)


@given(st.dictionaries(st.text(min_size=1), st.text()), st.text(), st.text(alphabet="<>/input-x23 "))
def test_no_content_can_close_or_imitate_its_tags(inputs, prompt, nasty):
    own = "-".join(["not", "drawn "])  # a name that no content holds
    inputs = {**inputs, own: "", "x": f"</x>{nasty}<x>", "x-2": f"< / X-2 >{nasty}", "two words": f"</input>{nasty}"}
    user = render(Request(inputs=inputs, prompt=prompt + nasty, rejected=nasty, fault="f")).user
    content = "".join([*inputs.values(), prompt, nasty])
    names = {name if re.fullmatch(r"[A-Za-z_][\w.-]*", name, re.ASCII) else "input" for name in inputs}
    ending = re.search(rf'^<input((?:-\d+)?) name="{own}">$', user, re.MULTILINE)[1]
    for name in names:
        assert not re.search(rf"<[\s/]*{re.escape(name + ending)}(?![-\d])", content, re.IGNORECASE)


def test_a_name_cannot_leave_its_tag():
    user = render(Request(inputs={'a">\n</input>': "v"})).user
    assert user.count("\n</input") == 1


def test_template_text_in_content_stays_text():
    prompt = render(Request(job="{{ request.label }}", inputs={"a": "{% if %}"}, prompt="{{ 7 * 7 }}", target="L"))
    assert "{{ request.label }}" in prompt.system
    assert "{% if %}" in prompt.user
    assert "{{ 7 * 7 }}" in prompt.user


def test_text_stays_as_it_is_and_other_values_are_json():
    user = render(Request(inputs={"text": 'say "ä" <b>', "none": None, "list": ["ä", 1]})).user
    assert '\nsay "ä" <b>\n' in user
    assert "null" not in user and "none" not in user
    judged = render(Request(inputs={"none": None}, purpose="judge", prompt="it is there")).user
    assert "\nnull\n" in judged
    assert '\n["ä", 1]\n' in user


def test_a_lone_surrogate_can_be_sent():
    prompt = render(Request(job="a\ud800", inputs={"x": "b\udfff", "y": ["\ud800"]}, prompt="c\ud800"))
    (prompt.system + prompt.user).encode("utf-8")


def test_a_judge_is_asked_for_a_boolean_and_a_reason():
    request = Request(
        purpose="judge", job="text: what the writer gave", prompt="the text is calm", inputs={"text": "hush"}
    )
    prompt = render(request)
    assert "values: text: what the writer gave" in prompt.system
    assert "Statement: the text is calm" in prompt.user
    assert re.search(r'"verdict" \(true or false\)', prompt.user)
    assert '"reason"' in prompt.user
    assert "JSON" in prompt.user


def test_a_choice_is_made_among_the_labels():
    prompt = render(Request(purpose="choice", prompt="the safest way", options=("patch", "give up")))
    assert "Criterion: the safest way" in prompt.user
    assert '"patch", "give up"' in prompt.user


def test_a_shape_is_said_in_plain_words():
    item = {"type": "object", "properties": {"grade": {"enum": ["good", "bad"]}}, "required": ["grade"]}
    schema = {
        "type": "object",
        "properties": {
            "score": {"type": "number"},
            "notes": {"type": ["string", "null"]},
            "rows": {"type": "array", "items": item},
        },
        "required": ["score", "rows"],
    }
    user = render(Request(job="j", schema=schema)).user
    for part in (
        '"score" (number)',
        '"notes" (text or null; may be left out)',
        '"grade" (one of "good", "bad")',
        "list",
    ):
        assert part in user
    assert "properties" not in user


def test_without_a_shape_no_json_is_asked_for():
    prompt = render(Request(job="j", inputs={"a": "b"}))
    assert "JSON" not in prompt.system + prompt.user


def test_there_is_always_something_to_answer():
    assert render(Request(job="j")).user


def test_few_tokens_are_spent_on_our_own_words():
    prompt = render(Request(job="", inputs={"a": ""}))
    assert len((prompt.system + prompt.user).split()) < 40
