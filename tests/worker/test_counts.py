"""Counts that a job adds to the service's counters."""

import time
from collections.abc import Callable

import pytest

from core.errors import LeaseLost
from core.store import Store
from core.training import TrainingCheckpoint, training_spec
from core.training.history import History
from tests.worker.test_jobs import take_away
from worker.job.run import JobRun
from worker.job.watch import TrainingWatch

Claim = Callable[..., JobRun]


def _counters(store: Store) -> dict[str, float]:
    with store.read() as tx:
        return {
            " ".join([counter.name, *counter.labels.values()]): counter.value
            for counter in tx.counters.all()
            if not counter.name.startswith("job_")
        }


def test_iterations_are_counted_once(store: Store, claim_job: Claim) -> None:
    """The count does not depend on the number of reports, and includes the end of the job."""
    run = claim_job()
    for _ in range(3):
        run.reporter.counters.count_iteration()
        run.reporter.flush()
    assert _counters(store)["training_iterations"] == 3
    run.reporter.counters.count_iteration()
    run.fail({"title": "t", "detail": "d"})
    assert _counters(store)["training_iterations"] == 4


def test_the_first_iteration_takes_no_time(store: Store, claim_job: Claim) -> None:
    """Only the time between iterations counts, since the first iteration also prepares the data."""
    run = claim_job()
    run.reporter.counters.count_iteration()
    run.reporter.flush()
    assert "training_seconds" not in _counters(store)
    time.sleep(0.05)
    run.reporter.counters.count_iteration()
    run.reporter.flush()
    assert 0.05 <= _counters(store)["training_seconds"] < 30


def test_an_iteration_counts_once_when_it_is_measured_at_the_end(store: Store, claim_job: Claim) -> None:
    """The last iteration is reported again with its metrics, whose times are added to its times."""

    def snapshot() -> TrainingCheckpoint:
        raise AssertionError("no checkpoint is stored")

    run = claim_job()
    spec = training_spec({"loss": {"name": "lambdarank"}, "metrics": ["ndcg@5"], "metric_interval": 10})
    history = History(spec, None, validates=False)
    watch = TrainingWatch(run.reporter, None, lambda: None)
    for _ in range(3):
        watch.on_iteration(history.add({}, {"tree": 6.0}), snapshot)
    watch.on_iteration(history.measure_end({"train": {"loss": 1.0}}, {"metrics": 3.0}), snapshot)
    run.reporter.flush()
    assert _counters(store)["training_iterations"] == 3
    with store.read() as tx:
        (row,) = tx.jobs.iterations(run.id)
    assert (row.iteration, row.milliseconds) == (3, {"tree": 6.0, "metrics": 1.0})


def test_counters_add_up_over_trainings(store: Store, claim_job: Claim) -> None:
    """The counters are those of the service, not of a job."""
    for _ in range(2):
        run = claim_job()
        run.reporter.counters.count_iteration()
        run.cancel()
    assert _counters(store)["training_iterations"] == 2


def test_hits_and_misses_are_counted_by_cache(store: Store, claim_job: Claim) -> None:
    """The cache of arrays has one miss, and the cache of bins one hit."""
    run = claim_job()
    assert run.caches.dataset("x") is None
    with run.caches.binned.adding("y") as folder:
        (folder / "bins").write_bytes(b"x")
    assert run.caches.binned.find("y") is not None
    run.reporter.flush()
    assert _counters(store) == {"cache_misses arrays": 1, "cache_hits binned": 1}


def test_unwritten_counts_are_written_later(store: Store, claim_job: Claim) -> None:
    """A failed transaction writes no counts; the next transaction writes them."""
    run = claim_job()
    run.reporter.counters.count_iteration()
    with pytest.raises(RuntimeError), run.succeeding({}):
        raise RuntimeError
    assert _counters(store) == {}
    run.fail({"title": "t", "detail": "d"})
    assert _counters(store) == {"training_iterations": 1}


def test_a_lost_job_counts_for_nothing(store: Store, claim_job: Claim) -> None:
    """Work after the loss of a lease is not counted."""
    run = claim_job()
    take_away(store, run)
    run.reporter.counters.count_iteration()
    with pytest.raises(LeaseLost):
        run.reporter.flush()
    assert _counters(store) == {}
