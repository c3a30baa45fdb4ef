"""Ranks that are killed or frozen: the training continues, or ends with a reason, without a hang."""

import importlib
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import pytest

from core.data import RankingDataset, synthetic_dataset
from core.kernel_cache import processor
from core.store import Job
from tests.worker.inline_worker import InlineWorker
from tests.worker.interruption import call_when
from tests.worker.ranks.processes import SignalAtStage, ranks_end_within, running_ranks
from tests.worker.ranks.trainings import STOPPED_EARLY, ranks, text_of, train_on
from worker import WorkerSettings
from worker.job.lease import Lease
from worker.job.limits import LimitReached
from worker.ranks.identity import Identity
from worker.ranks.placement import Invitation, LocalPlacement, RankSubprocess
from worker.ranks.sharing import check_memory
from worker.ranks.team import Member, Team

pytestmark = pytest.mark.xdist_group("ranks")

SHORTER_THAN_A_START_SECONDS = 1.0
MANY_TREES = {"num_iterations": 12, "num_leaves": 31, "min_data_in_leaf": 5}


@pytest.fixture(scope="module")
def larger() -> RankingDataset:
    """A dataset with enough queries for measurable time in every stage of a tree."""
    return synthetic_dataset(400, seed=1, documents_per_query=50, n_features=20)


@pytest.fixture
def settings(settings: WorkerSettings) -> WorkerSettings:
    """Settings with short timeouts and a checkpoint after each tree."""
    return settings.model_copy(update={"rank_silence_seconds": 2.0, "checkpoint_seconds": 0.0})


@pytest.fixture(scope="module")
def undisturbed(larger: RankingDataset, shared_worker: InlineWorker) -> str:
    """The model of the same training without interruption; it does not depend on the number of ranks."""
    return shared_worker.model_text(_train(shared_worker, larger, n_ranks=2).result or {})


def _train(inline_worker: InlineWorker, dataset: RankingDataset, n_ranks: int = 3, **spec: Any) -> Job:
    defaults = {
        "hyperparameters": MANY_TREES,
        "validation": {"fraction": 0.3},
        "distribution": ranks(n_ranks),
    }
    return inline_worker.train(inline_worker.add(dataset, "larger"), **{**defaults, **spec})


@pytest.mark.slow
@pytest.mark.long
def test_a_rank_is_lost_between_trees(
    shared_worker: InlineWorker, coloured_id: str, local_job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a rank is lost, the training continues from its checkpoint to the same bytes."""
    checkpointing = InlineWorker(
        shared_worker.store, shared_worker.settings.model_copy(update={"checkpoint_seconds": 0.0})
    )

    def kill(_: Lease) -> None:
        (lost,) = (pid for pid, name in running_ranks().items() if name.startswith("rank 1"))
        os.kill(lost, signal.SIGKILL)

    call_when(monkeypatch, lambda progress: progress.get("iteration", 0) == 3, kill)
    job = train_on(checkpointing, coloured_id, 2, **STOPPED_EARLY)
    assert job.progress is not None
    assert job.progress["restarts"] == 1
    assert text_of(checkpointing, job) == text_of(checkpointing, local_job)
    assert ranks_end_within(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("stage", ["sampling", "gradients", "histograms", "metrics"])
def test_a_rank_is_lost_at_a_stage(
    inline_worker: InlineWorker, larger: RankingDataset, undisturbed: str, stage: str, number: signal.Signals
) -> None:
    """After a rank is killed or frozen at a stage, the training continues to the same bytes."""
    signaller = SignalAtStage(f"rank 1 {stage}", number)
    signaller.start()
    for _ in range(5):  # a busy machine may hide a stage that takes a millisecond
        job = _train(inline_worker, larger)
        assert job.status == "succeeded", job.problem
        if signaller.sent_at:
            break
    assert signaller.sent_at
    assert job.progress is not None
    assert job.progress["restarts"] == 1
    assert inline_worker.model_text(job.result or {}) == undisturbed
    assert ranks_end_within(1.0)


@pytest.mark.slow
def test_a_rank_is_lost_while_ranks_connect(
    inline_worker: InlineWorker, larger: RankingDataset, undisturbed: str
) -> None:
    """Ranks that cannot connect to the lost rank end as well, and the training starts again."""
    signaller = SignalAtStage("rank 0 connecting", signal.SIGKILL)
    signaller.start()
    job = _train(inline_worker, larger)
    assert job.status == "succeeded", job.problem
    assert signaller.sent_at
    assert inline_worker.model_text(job.result or {}) == undisturbed
    assert ranks_end_within(1.0)


@pytest.mark.slow
def test_ranks_that_are_lost_again_and_again_end_the_job(
    inline_worker: InlineWorker, larger: RankingDataset
) -> None:
    """After four losses before the first tree, the job fails with the reason."""
    signaller = SignalAtStage("rank 2", signal.SIGKILL, times=4)
    signaller.start()
    job = _train(inline_worker, larger)
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["title"] == "Ranks lost"
    assert "ranks were lost 4 times without another tree" in job.problem["detail"]
    assert ranks_end_within(1.0)


class LatePlacement(LocalPlacement):
    """A placement that starts each rank only after the previous one has connected."""

    team: Team

    def start(self, rank: int, invite: Callable[[str], Invitation]) -> RankSubprocess:
        """Start a rank."""
        while any(member.connection is None for member in self.team.members):
            time.sleep(0.01)
        return super().start(rank, invite)


def test_a_rank_waits_for_a_rank_that_starts_much_later() -> None:
    """A rank that waits for the others gets heartbeats, even if they start after the timeout for silence."""
    placement = LatePlacement(threads_per_rank=1)
    identity = Identity.new("job_1", 1)
    placement.team = Team(placement, identity, 2, 1, SHORTER_THAN_A_START_SECONDS, lambda: None)
    with placement.team as team:
        assert [member.process.has_ended() for member in team.members] == [False, False]


class SlowPlacement(LocalPlacement):
    """A placement that returns each rank only after its process has connected."""

    def start(self, rank: int, invite: Callable[[str], Invitation]) -> RankSubprocess:
        """Start a rank, and wait for its connection."""
        psutil = importlib.import_module("psutil")  # psutil has no types
        started = super().start(rank, invite)
        while not any(link.raddr for link in psutil.Process(started.pid).net_connections()):
            assert not started.ended_within(0.05)
        assert not started.ended_within(1.0)
        return started


def test_a_rank_that_connects_before_its_placement_returns_is_accepted() -> None:
    """A Dask worker may start the process long before the driver gets the answer."""
    identity = Identity.new("job_1", 1)
    with Team(SlowPlacement(threads_per_rank=1), identity, 2, 1, 6.0, lambda: None) as team:
        assert all(member.address for member in team.members)
        assert {member.processor for member in team.members} == {processor()[0]}


@pytest.mark.parametrize(
    ("limit", "available", "sentence"),
    [
        (2**20, 2**30, "The shard of rank 0 on a takes about 3 MiB, but only 1 MiB are available."),
        (2**30, 2**22, "The shards of ranks on a take 6 MiB together, but only 3 MiB are available."),
        (2**30, 2**30, None),
        (None, None, None),
    ],
)
def test_shards_are_refused_that_exceed_their_machine(
    limit: int | None, available: int | None, sentence: str | None
) -> None:
    """The message has the memory of the shard, or of all shards on its machine."""
    process = cast("RankSubprocess", None)
    members = [Member(rank, process, 0.0, host=host) for rank, host in enumerate("aab")]
    need = {"needed_bytes": 3 * 2**20, "need": "3 MiB", "available_bytes": available}
    expected: AbstractContextManager[object] = (
        nullcontext() if sentence is None else pytest.raises(LimitReached, match=f"^{sentence}")
    )
    with expected:
        check_memory(members, [need] * 3, limit)


def test_fewer_queries_than_ranks_are_refused(inline_worker: InlineWorker, larger: RankingDataset) -> None:
    """Each rank needs a query to learn from and one to validate on."""
    dataset_id = inline_worker.add(larger.select_queries(range(4)), "four")
    job = inline_worker.train(dataset_id, validation={"fraction": 0.25}, distribution=ranks(3))
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["errors"][0]["pointer"] == "/distribution/ranks/at_least"


@pytest.mark.slow
def test_a_shard_beyond_the_memory_limit_is_refused(
    inline_worker: InlineWorker, larger: RankingDataset
) -> None:
    """The job fails with the memory limit, and the message names the rank."""
    wide = {**MANY_TREES, "num_leaves": 2_000}
    job = _train(inline_worker, larger, 2, hyperparameters=wide, limits={"memory_bytes": 80 * 2**20})
    assert job.status == "failed"
    assert job.problem is not None
    assert job.problem["title"] == "Memory limit"
    assert "The shard of rank 0" in job.problem["detail"]
    assert ranks_end_within(1.0)
