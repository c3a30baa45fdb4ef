"""Phases of a job, with their durations and peak memory."""

import time
from collections.abc import Callable

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.machine import process_memory_bytes
from core.store import Store
from tests.worker.inline_worker import InlineWorker
from worker.job.phases import Phases
from worker.job.run import JobRun

MEBIBYTE = 2**20


def test_each_phase_has_its_peak() -> None:
    """Memory is sampled at the start, at the end and during a phase; a phase can be entered again."""
    samples = iter((5, 90, 20, 7, 7, 30, 3, 3))
    phases = Phases(lambda: next(samples))
    phases.enter("loading")  # samples 5, before the first phase, and 90
    phases.enter("loading")  # continues the phase without a sample
    phases.enter("training")  # samples 20 for loading and 7 for training
    phases.enter("loading")  # samples 7 and 30
    phases.enter(None)  # samples 3 for loading, and 3 outside of phases
    entries = phases.to_json()
    assert [(phase["phase"], phase["peak_memory_bytes"]) for phase in entries] == [
        ("loading", 90),
        ("training", 7),
    ]


def test_time_outside_of_phases_does_not_count() -> None:
    """The current phase counts up to now."""
    phases = Phases(lambda: None)
    time.sleep(0.05)
    began = time.monotonic()
    phases.enter("loading")
    time.sleep(0.02)
    (loading,) = phases.to_json()
    assert 0.02 <= loading["seconds"] <= time.monotonic() - began + 1e-3
    assert loading["peak_memory_bytes"] is None
    phases.enter(None)
    (before,) = phases.to_json()
    time.sleep(0.02)
    assert phases.to_json() == [before]


@pytest.mark.skipif(process_memory_bytes() is None, reason="memory is known on Linux only")
def test_a_peak_within_a_phase_is_seen(claim_job: Callable[..., JobRun]) -> None:
    """Memory that is allocated and freed within a phase counts; memory-mapped files do not.

    The allocation is twice the asserted size, since the process may free other memory meanwhile.
    """
    run = claim_job()
    with run.reporter.phases.sampling():
        run.reporter.phase("loading")
        held = np.ones(128 * MEBIBYTE, np.uint8)
        deadline = time.monotonic() + 10
        while (
            run.reporter.phases.to_json()[0]["peak_memory_bytes"] < 60 * MEBIBYTE
            and time.monotonic() < deadline
        ):
            time.sleep(0.01)
        del held
        run.reporter.phase("training")
    loading, training = run.reporter.phases.to_json()
    assert loading["peak_memory_bytes"] >= 60 * MEBIBYTE
    assert training["peak_memory_bytes"] < 60 * MEBIBYTE


def test_phases_outlive_the_job(inline_worker: InlineWorker) -> None:
    """An attempt keeps its phases in the order of their starts."""
    dataset = synthetic_dataset(40, seed=1, documents_per_query=20, n_features=6)
    job = inline_worker.train(inline_worker.add(dataset, "d1"), test={"fraction": 0.2})
    with inline_worker.store.read() as tx:
        (attempt,) = tx.jobs.attempts(job.id)
    assert attempt.phases is not None
    assert [phase["phase"] for phase in attempt.phases] == [
        "loading",
        "binning",
        "training",
        "storing",
        "scoring",
        "evaluating",
        "ranking",
    ]
    assert sum(phase["seconds"] for phase in attempt.phases) <= (job.took_seconds or 0) + 0.01


def test_a_resumed_job_returns_to_its_count(store: Store, claim_job: Callable[..., JobRun]) -> None:
    """The count of another phase is replaced by that of the checkpoint."""
    run = claim_job()
    run.reporter.checkpoint = {"key": "checkpoints/x", "sha256": "0" * 64, "iteration": 120, "total": 500}
    run.reporter.report(progress={"phase": "binning", "iteration": 99, "total": 100, "eta_seconds": 0.0})
    run.reporter.phase("training", reset_count=True)
    with store.read() as tx:
        progress = tx.jobs.get(run.id).progress
    assert progress == {"phase": "training", "iteration": 120, "total": 500, "eta_seconds": None}
    run.reporter.discard_checkpoint()
    run.reporter.phase("training", reset_count=True)
    with store.read() as tx:
        progress = tx.jobs.get(run.id).progress
    assert progress == {"phase": "training", "iteration": 0, "total": 0, "eta_seconds": None}
