"""What holds for every pattern of the library: what roles are told, what is declared, what it is tested by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prose_runtime.runtime.jobs import slot_job
from support.commands import ROOT, prose, run
from support.library import PATTERNS, load

NAMES = (
    "worker-critic refine ratchet retry-with-learning fan-out map-reduce race fallback-chain pipeline guard "
    "proposer-adversary dialectic ensemble-synthesizer oversight "
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
