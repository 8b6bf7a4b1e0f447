"""Replies as the program gets them: JSON in text, missing fields, numbers, lists, and what is a fault."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prose_runtime.check.tables import Demand
from prose_runtime.runtime.fit import fit

LEAF = Demand()
NUMBER = Demand(number=True)


def of(*required, optional=(), mentioned=(), hints=None, **kinds):
    """An object demand; ``kinds`` gives the demand on a field that is more than a leaf."""
    names = [*required, *optional, *mentioned]
    fields = {name: kinds.get(name, LEAF) for name in names}
    return Demand(fields=fields, required=set(required), mentioned=set(mentioned), hints=hints or {})


def whole(demand):
    demand.whole = True
    return demand


FENCED = 'Here you are:\n\n```json\n\n{"score": 2, "why": "neat"}\n\n```'

SIDES = {"side": {"enum": ["pro", "contra"]}}

VALUES = {
    "text stays": (Demand(whole=True), "hello {}", "hello {}"),
    "text that is JSON stays when nothing reads it": (Demand(), '{"a": 1}', '{"a": 1}'),
    "a structured reply becomes its JSON": (Demand(whole=True), {"a": "ü"}, '{"a": "ü"}'),
    "a list becomes its JSON": (Demand(), [1, 2], "[1, 2]"),
    "null stays": (Demand(whole=True), None, None),
    "a number stays": (Demand(whole=True), 0.4, 0.4),
    "an object": (of("score"), {"score": 1, "more": 2}, {"score": 1, "more": 2}),
    "JSON in a fence": (of("score", "why", score=NUMBER), FENCED, {"score": 2, "why": "neat"}),
    "the last object that fits": (of("a"), '{"a": 1} then {"a": 2} then {"b": 3}', {"a": 2}),
    "null counts as given": (of("a"), {"a": None}, {"a": None}),
    "a declared word in another case": (of("side", hints=SIDES), {"side": " Pro "}, {"side": "pro"}),
    "a text that is a declared word": (of(optional=("side",), hints=SIDES), "Contra", {"side": "contra"}),
    "no declared word where none is needed": (
        of("a", optional=("side",), hints=SIDES),
        {"a": 1, "side": "?"},
        {"a": 1, "side": None},
    ),
    "a word that only conditions mention": (
        of("a", mentioned=("side",), hints=SIDES),
        {"a": 1, "side": "?"},
        {"a": 1, "side": "?"},
    ),
    "numeric text": (of("a", a=NUMBER), {"a": " 3.5 "}, {"a": 3.5}),
    "null for a number": (of("a", a=NUMBER), {"a": None}, {"a": None}),
    "optional fields stay missing": (of("a", optional=["b"]), {"a": 1}, {"a": 1}),
    "text stands for what is read": (of(optional=["brief"]), "go slower", {"brief": "go slower"}),
    "text stands for all that is read": (
        whole(of(optional=["a", "b"], mentioned=["c"])),
        "x",
        {"a": "x", "b": "x", "text": "x"},
    ),
    "what conditions look at stays": (
        of(optional=["brief"], mentioned=["decision"]),
        "abort",
        {"brief": "abort", "text": "abort"},
    ),
    "text stands for no number": (of(optional=["a", "n"], n=NUMBER), "x", {"a": "x"}),
    "numeric text stands for a number": (of(optional=["a", "n"], n=NUMBER), "7", {"a": "7", "n": 7}),
    "a number stands for what is read": (of(optional=["n"], n=NUMBER), 7, {"n": 7}),
    "a text that only conditions look at": (of(mentioned=["accepted"]), "accepted", "accepted"),
    "JSON that only conditions look at": (of(mentioned=["ok"]), 'well, {"ok": true}', {"ok": True}),
    "other JSON in such a text": (whole(of(mentioned=["ok"])), 'use {"a": 1}', 'use {"a": 1}'),
    "a reply that is an unknown object as a whole": (of(optional=["a"]), ' {"b": 1}', {"b": 1}),
    "null where nothing is required": (of(optional=["a"]), None, None),
    "words for booleans": (
        of(mentioned=["ok", "no"], hints={"ok": {"type": "boolean"}, "no": {"type": "boolean"}}),
        {"ok": "Yes", "no": "false"},
        {"ok": True, "no": False},
    ),
    "other words for booleans": (of(mentioned=["ok"], hints={"ok": {"type": "boolean"}}), {"ok": "hm"}, {"ok": "hm"}),
    "a mentioned number": (of(mentioned=["n"], n=NUMBER), {"n": "4"}, {"n": 4}),
    "a mentioned number that is none": (of(mentioned=["n"], n=NUMBER), {"n": "many"}, {"n": "many"}),
    "a bare number": (NUMBER, "0.9", 0.9),
    "a bare number in an object": (NUMBER, {"score": "0.9", "advice": "longer"}, 0.9),
    "a bare number in JSON in text": (NUMBER, 'so: {"value": 4}', 4),
    "a list": (Demand(items=LEAF), ["a", {"b": 1}], ["a", {"b": 1}]),
    "a list in text": (Demand(items=LEAF), 'so: ["a", "b"]', ["a", "b"]),
    "a list in an object": (Demand(items=LEAF), {"title": "t", "items": ["a"]}, ["a"]),
    "an empty list in an object in text": (Demand(items=LEAF), '{"issues": []}', []),
    "the last list that fits": (Demand(items=of("n")), 'see [1]: [{"n": 1}] as in [2]', [{"n": 1}]),
    "numbers in a list": (Demand(items=NUMBER), ["1", 2], [1, 2]),
    "fields in fields": (of("v", v=of("score", score=NUMBER)), {"v": {"score": "2"}}, {"v": {"score": 2}}),
    "JSON in a field's text": (of("v", v=of("score")), {"v": 'so {"score": 2}'}, {"v": {"score": 2}}),
    "null for an object": (of("v", v=of("score")), {"v": None}, {"v": None}),
    "a list in a field": (of("xs", xs=Demand(items=LEAF)), {"xs": '["a"]'}, {"xs": ["a"]}),
    "an object of any keys": (Demand(keyed=True), 'so {"a": 1}', {"a": 1}),
    "the only output in an object": (Demand(whole=True, bare="draft"), {"draft": "d"}, "d"),
    "the only output in JSON": (Demand(whole=True, bare="draft"), '{"draft": "d"}', "d"),
    "the only output, read by its name": (
        Demand(fields={"draft": LEAF}, required={"draft"}, bare="draft"),
        "d",
        {"draft": "d"},
    ),
    "an only output beside others": (Demand(whole=True, bare="a"), {"a": 1, "b": 2}, '{"a": 1, "b": 2}'),
}


@pytest.mark.parametrize(("demand", "reply", "value"), VALUES.values(), ids=VALUES)
def test_value(demand, reply, value):
    fitted = fit(reply, demand)
    assert fitted.faults == ()
    assert fitted.value == value
    assert type(fitted.value) is type(value)


FAULTS = {
    "a missing field": (of("score", "why"), {"why": "x"}, ["`score` is missing"]),
    "plain text": (of("score", "why"), "nice", ["`score`", "`why`"]),
    "null": (of("score"), None, ["`score`"]),
    "no number": (of("n", n=NUMBER), {"n": "many"}, ["`n`", "number", "many"]),
    "no number, though it may be left out": (of(optional=["n"], n=NUMBER), {"n": "many"}, ["`n`", "number"]),
    "a boolean is no number": (of("n", n=NUMBER), {"n": True}, ["`n`", "number"]),
    "no bare number": (NUMBER, "about three", ["number", "about three"]),
    "several numbers": (NUMBER, {"a": 1, "b": 2}, ["number"]),
    "no list": (Demand(items=LEAF), "- a\n- b", ["list"]),
    "two lists": (Demand(items=LEAF), {"a": [], "b": []}, ["list"]),
    "a field in a field": (of("v", v=of("score")), {"v": {"x": 1}}, ["`v.score` is missing"]),
    "a field of an element": (Demand(items=of("n")), [{"n": 1}, {"m": 1}], ["[1].n", "missing"]),
    "no object": (Demand(keyed=True), "text", ["object"]),
    "infinite": (NUMBER, "1e999", ["number"]),
}


@pytest.mark.parametrize(("demand", "reply", "words"), FAULTS.values(), ids=FAULTS)
def test_fault(demand, reply, words):
    said = "; ".join(fit(reply, demand).faults)
    assert said
    for word in words:
        assert word in said


def test_long_replies_are_cut_in_faults():
    (fault,) = fit("x" * 1000, NUMBER).faults
    assert len(fault) < 120


NAMES = st.sampled_from(["a", "b", "text", "n"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.sampled_from(["", "x", "7", "yes", "{}", "[1]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
REPLIES = JSON | st.text() | JSON.map(lambda value: f"so:\n{json.dumps(value)}.") | JSON.map(json.dumps)


@st.composite
def object_demands(draw, inner):
    fields = draw(st.dictionaries(NAMES, inner, min_size=1, max_size=3))
    rest = set(fields)
    required = {name for name in rest if draw(st.booleans())}
    mentioned = {name for name in rest - required if draw(st.booleans())}
    hints = {name: {"type": "boolean"} for name in mentioned if draw(st.booleans())}
    return Demand(fields=fields, required=required, mentioned=mentioned, hints=hints, whole=draw(st.booleans()))


DEMANDS = st.recursive(
    st.builds(Demand, number=st.booleans(), whole=st.booleans(), keyed=st.booleans()),
    lambda inner: object_demands(inner) | st.builds(Demand, items=inner),
    max_leaves=5,
)


def lacks(value, demand):
    """Whether an object lacks a required field, at any depth."""
    if isinstance(value, dict) and demand.fields:
        missing = any(name not in value for name in demand.required)
        return missing or any(
            lacks(value[name], part)
            for name, part in demand.fields.items()
            if name in value and name not in demand.mentioned
        )
    return isinstance(value, list) and demand.items is not None and any(lacks(v, demand.items) for v in value)


@given(REPLIES, DEMANDS)
@settings(max_examples=400, deadline=None)
def test_what_fits_has_what_is_required_and_fits_again(reply, demand):
    fitted = fit(reply, demand)
    if not fitted.faults:
        assert not lacks(fitted.value, demand)
        again = fit(fitted.value, demand)
        assert again.faults == ()
        assert repr(again.value) == repr(fitted.value)


@given(st.text() | st.binary() | st.sampled_from(["9" * 5000, "[" * 5000, "\ud800"]), DEMANDS)
@settings(max_examples=200, deadline=None)
def test_nothing_raises(reply, demand):
    fit(reply, demand)
