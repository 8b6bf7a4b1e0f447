"""What holds for every pattern of the library: what roles are told, what is declared, what it is tested by."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

import prose_runtime
from prose_runtime.runtime.jobs import slot_job
from prose_runtime.services.api import Request
from prose_runtime.testing import script
from support.commands import ROOT, prose, run
from support.library import PATTERNS, load

NAMES = (
    "worker-critic refine ratchet retry-with-learning fan-out map-reduce race fallback-chain pipeline guard "
    "proposer-adversary dialectic dialectic-convergence adversarial-debate ensemble-synthesizer oversight "
    "blind-review stochastic-probe assumption-miner coherence-probe contrastive-probe"
).split()


def test_every_pattern_of_the_field_is_there() -> None:
    assert set(NAMES) <= {path.name.removesuffix(".prose.md") for path in PATTERNS.glob("*.prose.md")}


@pytest.mark.parametrize("name", NAMES)
def test_no_role_is_told_of_the_pattern_or_a_slot(name: str) -> None:
    spec = load(name)
    names = [spec.name, spec.name.replace("-", " "), *(slot.name for slot in spec.slots), "pattern", "slot"]
    for slot in spec.slots:
        job = slot_job(spec, slot)
        assert len(job.split()) > 20, f"{slot.name} has hardly a job"
        for word in names:
            found = re.search(rf"\b{re.escape(word.removesuffix('s'))}s?\b", job, re.IGNORECASE)
            assert found is None, f"the job of {slot.name} says {found and found[0]!r}"


@pytest.mark.parametrize("name", NAMES)
def test_every_part_is_declared(name: str) -> None:
    spec = load(name)
    assert spec.kind == "pattern"
    assert spec.slots[0].name in {delegate.slot.split("_1..")[0] for delegate in spec.shape.delegates}  # type: ignore[union-attr]
    assert all(slot.requires and slot.ensures and slot.description for slot in spec.slots)
    assert [slot.name for slot in spec.slots if slot.primary]
    assert spec.returns is not None
    assert "result" in {output.name for output in spec.returns.outputs}
    assert any("aware of the pattern" in invariant.text for invariant in spec.invariants)
    assert spec.frontmatter["description"]


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_has_its_test(name: str) -> None:
    assert load(f"tests/{name}.test").frontmatter["subject"] == name


def test_the_tests_of_the_library_pass(tmp_path: Path) -> None:
    done = run([prose(), "test", "patterns"], ROOT, home=tmp_path)
    assert done.exit == 0, done.stdout + done.stderr
    assert f"{len(list((PATTERNS / 'tests').iterdir()))} passed, 0 failed" in done.stdout


TIERS = [{"model": "big", "count": 1}, {"model": "small", "count": 2}]
AT_ONCE: list[tuple[str, str, bool, dict[str, Any], dict[str, Any]]] = [
    ("fan-out", "delegates", True, {}, {}),
    ("map-reduce", "mapper", False, {"chunks": [1, 2, 3]}, {}),
    ("race", "candidates", True, {}, {}),
    ("ensemble-synthesizer", "ensemble_member", False, {}, {"ensemble_size": 3}),
    ("blind-review", "reviewers", True, {}, {}),
    ("stochastic-probe", "probe", False, {}, {"sample_size": 3}),
    ("assumption-miner", "miner", False, {}, {"tiers": TIERS}),
    ("coherence-probe", "subject", False, {}, {"framings": ["a", "b", "c"]}),
    ("contrastive-probe", "subject", False, {"variants": ["a", "b", "c"]}, {}),
]


@pytest.mark.parametrize(("name", "slot", "many", "inputs", "config"), AT_ONCE, ids=[case[0] for case in AT_ONCE])
def test_independent_calls_are_made_at_once(
    name: str, slot: str, many: bool, inputs: dict[str, Any], config: dict[str, Any]
) -> None:
    all_three = asyncio.Barrier(3)

    async def member(request: Request) -> str:
        async with asyncio.timeout(10):
            await all_three.wait()
        return "an answer"

    whole = script({"coherent": True, "report": "R"}, repeat=True)
    others = {other.name: whole for other in load(name).slots if other.name != slot}
    bind = {**others, slot: [member] * 3 if many else member}
    path = PATTERNS / f"{name}.prose.md"
    done = prose_runtime.run(path, {"task_brief": "T", **inputs}, bind=bind, config=config)
    assert [call["target"] for call in done.calls].count(slot) == 3
    assert not done.value.get("failures")
