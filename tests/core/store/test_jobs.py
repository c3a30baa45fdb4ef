"""Claiming, leasing, recording and ending jobs."""

import threading
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import event

from core.errors import LeaseLost, NotFound, WrongState
from core.jobs import LANES
from core.store import Dataset, Job, Store, Transaction
from core.store.clock import utc_now
from core.store.repositories.job_claims import WAKE_UPS
from core.store.repositories.jobs import Jobs
from tests.invalid_datasets import mark_invalid

LATER = timedelta(minutes=1)


def test_a_new_job_is_queued(store: Store, job: Job) -> None:
    """A new job is queued and was never claimed; it has no progress and no results."""
    with store.read() as tx:
        found = tx.jobs.get(job.id)
    assert (found.kind, found.status, found.spec) == ("train", "queued", {"seed": 1})
    assert (found.attempt, found.token, found.cancel_requested) == (0, 0, False)
    assert (found.progress, found.metrics, found.result, found.problem) == (None, None, None, None)
    assert (found.lease_expires_at, found.worker, found.woken_at) == (None, None, None)
    assert (found.started_at, found.finished_at) == (None, None)
    assert abs(utc_now() - found.created_at) < LATER


def test_an_unknown_job_is_not_found(store: Store) -> None:
    """Reading, cancelling or listing the iterations of an unknown job raises `NotFound`."""
    with store.begin() as tx:
        for call in (tx.jobs.get, tx.jobs.request_cancel, tx.jobs.iterations):
            with pytest.raises(NotFound):
                call("job_none")
        assert tx.jobs.claim("job_none", "w1", 15) is None


def test_a_job_on_an_unknown_dataset_is_not_queued(store: Store) -> None:
    """A job cannot use a dataset that does not exist, and is not queued then."""
    with pytest.raises(NotFound, match="ds_none"), store.begin() as tx:
        tx.jobs.add("train", {}, ["ds_none"])
    with store.read() as tx:
        assert tx.jobs.page(None, 10).items == []


@pytest.mark.both_stores
def test_a_job_is_claimed_once(store: Store, job: Job) -> None:
    """A claim starts an attempt with a lease and the next token; a second claim gets nothing."""
    now = utc_now()
    with store.begin() as tx:
        claimed = tx.jobs.claim(job.id, "host/1", 15)
        assert tx.jobs.claim(job.id, "host/2", 15) is None
    assert claimed is not None
    assert (claimed.status, claimed.worker, claimed.attempt, claimed.token) == ("running", "host/1", 1, 1)
    assert claimed.started_at is not None
    assert claimed.lease_expires_at is not None
    assert claimed.started_at >= now
    assert claimed.lease_expires_at - claimed.started_at == timedelta(seconds=15)


@pytest.mark.both_stores
@pytest.mark.long
def test_one_of_many_threads_claims(store: Store) -> None:
    """Of several threads that claim a job, each in a separate transaction, exactly one gets the job."""
    with store.begin() as tx:
        job_ids = [tx.jobs.add("train", {}).id for _ in range(20)]
    barrier = threading.Barrier(8)
    winners: list[tuple[str, int]] = []

    def contend(number: int) -> None:
        for job_id in job_ids:
            barrier.wait()
            with store.begin() as tx:
                if tx.jobs.claim(job_id, f"w{number}", 15):
                    winners.append((job_id, number))

    threads = [threading.Thread(target=contend, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(job_id for job_id, _ in winners) == sorted(job_ids)
    with store.read() as tx:
        for job_id, number in winners:
            assert (tx.jobs.get(job_id).worker, tx.jobs.get(job_id).token) == (f"w{number}", 1)


@pytest.mark.both_stores
def test_writes_of_an_earlier_claim_are_refused(store: Store, claimed: Job) -> None:
    """After another worker has claimed a job, writes of the first worker are refused."""
    with store.begin() as tx:
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 3)
        second = tx.jobs.claim(claimed.id, "w2", 15)
    assert second is not None
    assert (second.attempt, second.token) == (2, 2)
    writes: list[Callable[[Jobs], object]] = [
        lambda jobs: jobs.renew(claimed.id, 1, 15),
        lambda jobs: jobs.record(claimed.id, 1),
        lambda jobs: jobs.record(claimed.id, 1, progress={"phase": "train"}, iterations=[(1, {})]),
        lambda jobs: jobs.succeed(claimed.id, 1, {}),
        lambda jobs: jobs.fail(claimed.id, 1, {}),
        lambda jobs: jobs.end_cancelled(claimed.id, 1),
    ]
    for write in writes:
        with pytest.raises(LeaseLost), store.begin() as tx:
            write(tx.jobs)
    with store.begin() as tx:
        assert tx.jobs.iterations(claimed.id) == []
        assert tx.jobs.get(claimed.id).progress is None
        assert tx.jobs.succeed(claimed.id, 2, {"model_id": "mdl_1"}).result == {"model_id": "mdl_1"}


def test_renewing_extends_the_lease(store: Store, claimed: Job) -> None:
    """Renewing moves the lease forward and returns whether a cancellation was requested."""
    now = utc_now()
    with store.begin() as tx:
        assert tx.jobs.renew(claimed.id, claimed.token, 60) is False
        renewed = tx.jobs.get(claimed.id)
        assert renewed.lease_expires_at is not None
        assert renewed.lease_expires_at >= now + timedelta(seconds=60)
        tx.jobs.request_cancel(claimed.id)
        assert tx.jobs.renew(claimed.id, claimed.token, 60) is True


def test_record_keeps_omitted_values(store: Store, claimed: Job) -> None:
    """Progress and metrics are each replaced when given and kept when not."""
    progress = {"phase": "train", "iteration": 3, "total": 9, "eta_seconds": 1.5}
    metrics = {"validation": {"ndcg@10": 0.25}}
    with store.begin() as tx:
        tx.jobs.record(claimed.id, claimed.token, progress=progress)
        tx.jobs.record(claimed.id, claimed.token, metrics=metrics)
    with store.read() as tx:
        found = tx.jobs.get(claimed.id)
    assert (found.progress, found.metrics) == (progress, metrics)


@pytest.mark.both_stores
def test_iterations_are_listed_in_order(store: Store, claimed: Job) -> None:
    """Iterations after a given one are listed in order; one that is recorded twice has its last values."""
    with store.begin() as tx:
        tx.jobs.record(claimed.id, claimed.token, iterations=[(2, {"v": 0.2}), (1, {"v": 0.1})])
        tx.jobs.record(claimed.id, claimed.token, iterations=[(2, {"v": 0.5}), (3, {"v": 0.3})])
    with store.read() as tx:
        everything = [(row.iteration, row.values) for row in tx.jobs.iterations(claimed.id)]
        rest = [row.iteration for row in tx.jobs.iterations(claimed.id, after=1)]
    assert everything == [(1, {"v": 0.1}), (2, {"v": 0.5}), (3, {"v": 0.3})]
    assert rest == [2, 3]


def test_a_second_attempt_starts_from_nothing(store: Store, claimed: Job) -> None:
    """The next claim drops the records of the lost attempt."""
    with store.begin() as tx:
        tx.jobs.record(
            claimed.id,
            1,
            progress={"phase": "train"},
            metrics={"train": {}},
            findings=[{"code": "shared-queries"}],
            iterations=[(1, {}), (2, {})],
        )
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 3)
        second = tx.jobs.claim(claimed.id, "w2", 15)
        assert second is not None
        assert (second.progress, second.metrics, second.findings) == (None, None, None)
        assert tx.jobs.iterations(claimed.id) == []


def test_a_queued_job_is_cancelled_immediately(store: Store, job: Job) -> None:
    """A queued job is cancelled immediately, and no worker can claim it."""
    with store.begin() as tx:
        cancelled = tx.jobs.request_cancel(job.id)
        assert tx.jobs.claim(job.id, "w1", 15) is None
    assert (cancelled.status, cancelled.problem) == (
        "cancelled",
        {"title": "Cancelled", "detail": "The job was cancelled."},
    )
    assert cancelled.finished_at is not None


def test_a_running_job_gets_a_cancellation_request(store: Store, claimed: Job) -> None:
    """A running job gets a cancellation request, which can be repeated, and its worker ends it."""
    with store.begin() as tx:
        assert tx.jobs.request_cancel(claimed.id).status == "running"
        assert tx.jobs.request_cancel(claimed.id).cancel_requested
        assert tx.jobs.record(claimed.id, claimed.token) is True
        assert tx.jobs.end_cancelled(claimed.id, claimed.token).status == "cancelled"
        with pytest.raises(WrongState):
            tx.jobs.request_cancel(claimed.id)


def test_a_training_that_ends_during_a_cancellation_keeps_its_result(
    store: Store, claimed: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The experiment and its other trainings are cancelled although a training ended before its lock."""
    with store.begin() as tx:
        queued = tx.jobs.add("train", {})
        experiment = tx.experiments.add(
            paper="lambdaloss-2018", scale="quick", data="synthetic", folds=[], dry_run=False, datasets=[]
        )
        for fold, job in enumerate((claimed, queued)):
            columns = {"digest": "d", "sharing_key": "s", "spec": {}, "needs_training_values": False}
            tx.experiments.add_training(experiment.id, fold=fold, place=0, job_id=job.id, **columns)
    with store.begin() as tx:

        def end_training(*_: object) -> set[str]:
            tx.jobs.succeed(claimed.id, claimed.token, {})
            return set()

        # Called between the unlocked reading of the jobs and their locks.
        monkeypatch.setattr(tx.experiments, "_awaited", end_training)
        row, cancelled = tx.experiments.cancel(experiment.id)
    assert (row.status, [job.id for job in cancelled]) == ("cancelled", [queued.id])
    with store.read() as tx:
        assert [tx.jobs.get(job.id).status for job in (claimed, queued)] == ["succeeded", "cancelled"]


def test_cancelling_an_experiment_keeps_evaluations_of_others(store: Store, claimed: Job) -> None:
    """Two experiments share a training and its evaluation; one of them is cancelled."""
    with store.begin() as tx:
        tx.jobs.succeed(claimed.id, claimed.token, {})
        evaluation = tx.jobs.add("evaluate", {})
        columns = {"digest": "d", "sharing_key": "s", "spec": {}, "needs_training_values": True}
        jobs = {"job_id": claimed.id, "evaluation_job_id": evaluation.id}
        first, second = (
            tx.experiments.add(
                paper="lambdaloss-2018", scale="quick", data="synthetic", folds=[], dry_run=False, datasets=[]
            )
            for _ in range(2)
        )
        for experiment in (first, second):
            tx.experiments.add_training(experiment.id, fold=0, place=0, **jobs, **columns)
    for experiment, stopped in ((first, []), (second, [evaluation.id])):
        with store.begin() as tx:
            _, cancelled = tx.experiments.cancel(experiment.id)
        assert [job.id for job in cancelled] == stopped


def test_a_job_renewed_meanwhile_is_not_recovered(store: Store, claimed: Job) -> None:
    """A worker keeps its job if its heartbeat is received before the job is recovered."""
    with store.begin() as tx:
        tx.jobs.renew(claimed.id, claimed.token, 15)
    with store.begin() as tx:
        assert tx.jobs.recover(claimed, 1) is None
        assert tx.jobs.get(claimed.id).status == "running"


def test_a_job_that_was_claimed_again_is_not_recovered(store: Store, claimed: Job) -> None:
    """Of two sweepers that found the same lost worker, the second does not undo the next claim."""
    with store.begin() as tx:
        tx.jobs.recover(claimed, 3)
        assert tx.jobs.claim(claimed.id, "w2", 15) is not None
    with store.begin() as tx:
        assert tx.jobs.recover(claimed, 3) is None
        assert tx.jobs.get(claimed.id).worker == "w2"


def test_a_lost_job_is_queued_again(store: Store, claimed: Job) -> None:
    """A job of a lost worker is queued again and due for a wake-up."""
    with store.begin() as tx:
        tx.jobs.to_wake(utc_now(), 60)
        (running,) = tx.jobs.running_on("")
        lost = tx.jobs.recover(running, 2)
        assert lost is not None
        assert (lost.status, lost.worker, lost.lease_expires_at) == ("queued", None, None)
        assert [job.id for job in tx.jobs.to_wake(utc_now(), 60)] == [claimed.id]


def test_a_job_lost_in_its_last_attempt_fails(store: Store, claimed: Job) -> None:
    """A job lost as often as allowed has failed, with the reason."""
    with store.begin() as tx:
        lost = tx.jobs.recover(claimed, 1)
    assert lost is not None
    assert lost.status == "failed"
    assert lost.problem == {
        "title": "Worker lost",
        "detail": "The worker w1 stopped answering in the last of 1 attempts.",
    }


def test_a_lost_job_with_a_requested_cancellation_is_cancelled(store: Store, claimed: Job) -> None:
    """A job that its user cancelled is not run again when its worker is lost."""
    with store.begin() as tx:
        tx.jobs.request_cancel(claimed.id)
        ended = tx.jobs.recover(tx.jobs.get(claimed.id), 3)
    assert ended is not None
    assert (ended.id, ended.status) == (claimed.id, "cancelled")


def test_artifacts_of_a_job_without_a_worker_are_deleted_later(store: Store, claimed: Job) -> None:
    """The transaction that ends a lost or queued job records their deletion; a requeued job keeps them."""
    with store.begin() as tx:
        tx.jobs.recover(claimed, 2)
        assert tx.trash.pending(9) == []
        queued = tx.jobs.add("import", {"upload_id": "run_1"})
        tx.jobs.request_cancel(queued.id)
        again = tx.jobs.claim(claimed.id, "w2", 15)
        assert again is not None
        tx.jobs.recover(again, 2)
        assert sorted(tx.trash.pending(9)) == [f"checkpoints/{claimed.id}", "runs/run_1"]


def woken(tx: Transaction, now: datetime) -> list[str]:
    """Return the jobs to wake: those never woken, or not within the last 30 seconds."""
    return [job.id for job in tx.jobs.to_wake(now, 30)]


@pytest.mark.both_stores
def test_queued_jobs_are_woken_oldest_first(store: Store) -> None:
    """Queued jobs that were never woken, or not for a while, are returned once."""
    now = utc_now()
    with store.begin() as tx:
        first, second, running = (tx.jobs.add("train", {}).id for _ in range(3))
        tx.jobs.claim(running, "w1", 15)
        assert woken(tx, now) == [first, second]
        assert woken(tx, now + timedelta(seconds=29)) == []
        tx.jobs.claim(first, "w1", 15)
        assert woken(tx, now + timedelta(seconds=31)) == [second]


def test_a_sweep_wakes_a_limited_number(store: Store) -> None:
    """A sweep wakes the oldest jobs up to the limit, and the next sweep wakes the remaining ones."""
    now = utc_now()
    with store.begin() as tx:
        ids = [tx.jobs.add("train", {}).id for _ in range(WAKE_UPS + 2)]
    for expected in (ids[:WAKE_UPS], ids[WAKE_UPS:]):
        with store.begin() as tx:
            assert woken(tx, now) == expected


def test_a_wake_up_time_in_the_future_is_ignored(store: Store) -> None:
    """After the clock is set back by an hour, a job is woken again; a few seconds do not matter."""
    now = utc_now()
    with store.begin() as tx:
        job_id = tx.jobs.add("train", {}).id
        assert woken(tx, now) == [job_id]
        assert woken(tx, now - timedelta(seconds=29)) == []
        assert woken(tx, now - timedelta(hours=1)) == [job_id]


def test_pages_are_filtered_by_status_and_kind(store: Store, claimed: Job) -> None:
    """Jobs are listed by status and by kind."""
    with store.begin() as tx:
        other = tx.jobs.add("rank", {})
        assert [row.id for row in tx.jobs.page(None, 10).items] == [other.id, claimed.id]
        assert [row.id for row in tx.jobs.page(None, 10, status="running").items] == [claimed.id]
        assert [row.id for row in tx.jobs.page(None, 10, kind="rank").items] == [other.id]
        assert tx.jobs.page(None, 10, status="running", kind="rank").items == []


@pytest.mark.both_stores
def test_jobs_are_found_by_name_and_dataset(store: Store) -> None:
    """Jobs are found by a literal part of the shown name in any case, by id and by dataset."""
    with store.begin() as tx:
        dataset = tx.datasets.add("d", {})
        web = tx.jobs.add("train", {"model_name": "web-0.1"}, [dataset.id])
        shop = tx.jobs.add("evaluate", {"system": "shop:3", "model_id": "mdl_1"}, [dataset.id])
        compared = tx.jobs.add("compare", {"systems": [{"system": "web:1"}, {"ranking_id": "rnk_1"}]})

        def found(**wanted: Any) -> list[str]:
            return [job.id for job in tx.jobs.page(None, 10, **wanted).items]

        assert found(text="WEB") == [compared.id, web.id]
        assert found(text="b-0.1") == [web.id]
        assert found(text="b_0.1") == found(text="%") == []
        assert found(text=shop.id) == [shop.id]
        assert found(dataset_id=dataset.id) == [shop.id, web.id]
        assert found(dataset_id=dataset.id, kind="train", text="web") == [web.id]


@pytest.mark.both_stores
@pytest.mark.parametrize("limit", [1, 2, 10])
def test_each_sort_order_pages_through_all_jobs(store: Store, limit: int) -> None:
    """Each order pages through every job; equal values have the newest first, and unknown values are last."""
    values = [0.4, 0.6, None, 0.6, 0.5]
    with store.begin() as tx:
        jobs = [tx.jobs.add("train", {"metrics": ["ndcg@5"], "number": n}) for n in range(len(values))]
        for job, value in zip(jobs, values, strict=True):
            tx.jobs.claim(job.id, "w1", 15)
            if value is not None:
                metrics = {"train": {"ndcg@5": 0.9, "loss": 1.0}, "validation": {"ndcg@5": value}}
                tx.jobs.record(job.id, 1, metrics=metrics)
        # The job that began first ends last.
        for job in (jobs[3], jobs[1]):
            tx.jobs.succeed(job.id, 1, {})

    def walk(sort: str) -> list[int]:
        seen: list[int] = []
        cursor: str | None = None
        while True:
            with store.read() as tx:
                page = tx.jobs.page(cursor, limit, sort=sort)
            seen += [job.spec["number"] for job in page.items]
            if page.next_cursor is None:
                return seen
            cursor = page.next_cursor

    assert walk("oldest") == [0, 1, 2, 3, 4]
    assert walk("metric") == [3, 1, 4, 0, 2]
    assert walk("longest") == [1, 3, 4, 2, 0]


class TestIngestJobsThatEndEarly:
    """A dataset never waits for a job that will not read it."""

    def _problem(self, store: Store, dataset: Dataset) -> tuple[str, object]:
        with store.read() as tx:
            row = tx.datasets.get(dataset.id)
            return row.status, row.problem

    def test_a_queued_ingestion_that_is_cancelled_makes_its_dataset_invalid(
        self, store: Store, ingest: tuple[Dataset, Job]
    ) -> None:
        """No worker would end the ingestion, so the cancellation itself marks the dataset."""
        dataset, job = ingest
        with store.begin() as tx:
            tx.jobs.request_cancel(job.id)
        assert self._problem(store, dataset) == (
            "invalid",
            {"title": "Cancelled", "detail": "The job was cancelled."},
        )

    def test_a_cancelled_ingestion_makes_its_dataset_invalid(
        self, store: Store, ingest: tuple[Dataset, Job]
    ) -> None:
        """A worker that stops on request makes the dataset invalid, too."""
        dataset, job = ingest
        with store.begin() as tx:
            tx.jobs.claim(job.id, "w1", 15)
            tx.jobs.request_cancel(job.id)
        assert self._problem(store, dataset) == ("pending", None)
        with store.begin() as tx:
            tx.jobs.end_cancelled(job.id, 1)
        assert self._problem(store, dataset)[0] == "invalid"

    def test_an_ingestion_lost_in_its_last_attempt_makes_its_dataset_invalid(
        self, store: Store, ingest: tuple[Dataset, Job]
    ) -> None:
        """A lost worker leaves the dataset pending while attempts remain, then invalid, with its problem."""
        dataset, job = ingest
        with store.begin() as tx:
            tx.jobs.claim(job.id, "w1", 15)
            for lost in tx.jobs.running_on(""):
                tx.jobs.recover(lost, 2)
        assert self._problem(store, dataset) == ("pending", None)
        with store.begin() as tx:
            tx.jobs.claim(job.id, "w2", 15)
            for lost in tx.jobs.running_on(""):
                tx.jobs.recover(lost, 2)
        assert self._problem(store, dataset) == (
            "invalid",
            {"title": "Worker lost", "detail": "The worker w2 stopped answering in the last of 2 attempts."},
        )

    def test_a_recorded_problem_of_a_dataset_is_kept(self, store: Store, ingest: tuple[Dataset, Job]) -> None:
        """The worker's problem with the data is not replaced by the job's own problem."""
        dataset, job = ingest
        with store.begin() as tx:
            tx.jobs.claim(job.id, "w1", 15)
            mark_invalid(tx, dataset.id, {"title": "Bad file", "line": 3})
            tx.jobs.fail(job.id, 1, {"title": "Bad file", "detail": "line 3"})
        assert self._problem(store, dataset) == ("invalid", {"title": "Bad file", "line": 3})

    def test_a_failed_training_does_not_change_its_dataset(
        self, store: Store, ingest: tuple[Dataset, Job]
    ) -> None:
        """A training that fails does not change the dataset that it used."""
        dataset, _ = ingest
        with store.begin() as tx:
            training = tx.jobs.add("train", {}, [dataset.id])
            tx.jobs.request_cancel(training.id)
        assert self._problem(store, dataset) == ("pending", None)


def test_a_released_job_is_queued_again_and_its_attempt_does_not_count(store: Store) -> None:
    """A worker that stops returns its job to the queue; restarts must not use the attempts up."""
    with store.begin() as tx:
        job_id = tx.jobs.add("train", {}).id
    for _ in range(5):
        with store.begin() as tx:
            claimed = tx.jobs.claim(job_id, "w", 60)
            assert claimed is not None
            assert claimed.attempt == 1
            released = tx.jobs.release(job_id, claimed.token)
        assert (released.status, released.attempt, released.woken_at) == ("queued", 0, None)
    with store.begin() as tx, pytest.raises(LeaseLost):
        tx.jobs.release(job_id, released.token)


def claim_order(store: Store, kinds: Collection[str] = ("train",)) -> list[str]:
    """Claim jobs until none waits, and return their ids in the order of the claims."""
    claimed: list[str] = []
    while True:
        with store.begin() as tx:
            job = tx.jobs.claim_next(kinds, "w1", 15)
        if job is None:
            return claimed
        claimed.append(job.id)


def test_priority_goes_before_age(store: Store) -> None:
    """Jobs of the highest priority are claimed first, the oldest of them before others."""
    with store.begin() as tx:
        low, first, second, high = (
            tx.jobs.add("train", {}, priority=priority).id for priority in (-1, 0, 0, 1)
        )
    assert claim_order(store) == [high, first, second, low]


@pytest.mark.both_stores
def test_jobs_of_different_keys_alternate(store: Store) -> None:
    """A key that queued many jobs first does not keep other keys waiting for all of them."""
    with store.begin() as tx:
        many = [tx.jobs.add("train", {}, key_id="key_a").id for _ in range(4)]
        other = [tx.jobs.add("train", {}, key_id="key_b").id for _ in range(2)]
        without_key = tx.jobs.add("train", {}).id
    assert claim_order(store) == [many[0], other[0], without_key, many[1], other[1], many[2], many[3]]


@pytest.mark.parametrize("seed", range(5))
def test_the_key_served_least_recently_is_next(store: Store, seed: int) -> None:
    """Jobs of random keys, priorities and kinds are claimed in the documented order."""
    random = Random(seed)
    waiting, starts, expected = [], dict[str | None, int](), list[str]()
    with store.begin() as tx:
        for _ in range(24):
            key, kind = random.choice(["key_a", "key_b", "key_c", None]), random.choice(["train", "ingest"])
            job = tx.jobs.add(kind, {}, key_id=key, priority=random.choice([0, 0, 5]))
            if kind == "train":
                waiting.append(job)
    while waiting:
        job = min(waiting, key=lambda job: (-job.priority, starts.get(job.key_id, -1), job.id))
        waiting.remove(job)
        starts[job.key_id] = len(expected)
        expected.append(job.id)
    assert claim_order(store) == expected


@pytest.mark.embedded
def test_a_claim_does_not_read_all_jobs(store: Store) -> None:
    """Each statement of a claim reads jobs by an index, and sorts no job that has ended."""
    with store.begin() as tx:
        for key in ("key_a", "key_b"):
            tx.jobs.add("train", {}, key_id=key)
    statements: list[tuple[str, Any]] = []
    with store.begin() as tx:
        connection = tx._session.connection()
        event.listen(connection, "before_cursor_execute", lambda *call: statements.append(call[2:4]))
        assert tx.jobs.claim_next(["train"], "w1", 15) is not None
        starts = [call for call in statements if "ORDER BY jobs.started_at DESC" in call[0]]
        assert len(starts) == 2
        for statement, parameters in starts:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps = [row.detail for row in plan]
            assert steps == ["SEARCH jobs USING INDEX ix_jobs_key_id_started_at (key_id=? AND started_at>?)"]


def test_a_worker_takes_the_kinds_of_its_lane(store: Store) -> None:
    """A job of another lane stays in the queue."""
    with store.begin() as tx:
        training, reading = tx.jobs.add("train", {}).id, tx.jobs.add("ingest", {}).id
    assert claim_order(store, LANES["quick"]) == [reading]
    assert claim_order(store, LANES["training"]) == [training]
    assert sorted(kind for kinds in LANES.values() for kind in kinds) == sorted(
        (
            *("train", "reproduce", "evaluate", "rank", "compare", "promote", "inspect"),
            *("ingest", "import", "import-model", "trial", "conclude", "report", "drift"),
            *("auto-train", "try-candidates", "ingest-clicks", "click-model", "judge", "counterfactual"),
            *("propensity", "simulate-clicks"),
        )
    )


def test_every_claim_is_recorded(store: Store, claimed: Job) -> None:
    """Each attempt has its worker, its times and its outcome, even if the worker was lost."""
    with store.begin() as tx:
        tx.jobs.recover(claimed, 3)
        again = tx.jobs.claim(claimed.id, "w2", 15)
        assert again is not None
        tx.jobs.succeed(again.id, again.token, {})
    with store.read() as tx:
        lost, done = tx.jobs.attempts(claimed.id)
    assert (lost.attempt, lost.worker, lost.ending, lost.detail) == (
        *(1, "w1", "lost"),
        "The worker w1 stopped answering.",
    )
    assert (done.attempt, done.worker, done.ending) == (2, "w2", "succeeded")
    assert lost.ended_at is not None
    assert lost.started_at <= lost.ended_at <= done.started_at


@pytest.mark.both_stores
def test_running_jobs_are_found_by_a_prefix_of_their_worker(store: Store, claimed: Job) -> None:
    """The prefix is compared literally, so that wildcards of SQL have no effect."""
    with store.read() as tx:
        for name in ("", "w", "w1"):
            assert [job.id for job in tx.jobs.running_on(name)] == [claimed.id]
        assert tx.jobs.running_on("x") == tx.jobs.running_on("%") == []


def test_a_later_attempt_continues_from_the_checkpoint(store: Store, claimed: Job) -> None:
    """Records after the checkpoint are dropped, and records before it stay."""
    checkpoint = {"key": "checkpoints/a/1-2.npz", "sha256": "0", "iteration": 2, "total": 9}
    curve = [(number, {"train": {"ndcg@5": number / 10}}) for number in range(1, 5)]
    with store.begin() as tx:
        tx.jobs.record(claimed.id, claimed.token, iterations=curve)
        tx.jobs.keep_checkpoint(claimed.id, claimed.token, checkpoint)
        for lost in tx.jobs.running_on(""):
            tx.jobs.recover(lost, 3)
        again = tx.jobs.claim(claimed.id, "w2", 15)
        assert again is not None
        assert again.checkpoint == checkpoint
        assert [row.iteration for row in tx.jobs.iterations(claimed.id)] == [1, 2]
        assert tx.jobs.attempts(claimed.id)[1].resumed_from == 2
        with pytest.raises(LeaseLost):
            tx.jobs.keep_checkpoint(claimed.id, claimed.token, checkpoint)
        tx.jobs.drop_checkpoint(again.id, again.token)
        assert tx.jobs.iterations(claimed.id) == []
        tx.jobs.keep_checkpoint(again.id, again.token, checkpoint)
        assert tx.jobs.succeed(again.id, again.token, {}).checkpoint is None


def test_a_requested_cancellation_is_returned_to_the_current_claim(store: Store, claimed: Job) -> None:
    """The query returns whether a cancellation is requested, and raises `LeaseLost` for an old token."""
    with store.begin() as tx:
        assert not tx.jobs.cancellation_requested(claimed.id, claimed.token)
        tx.jobs.request_cancel(claimed.id)
        assert tx.jobs.cancellation_requested(claimed.id, claimed.token)
        with pytest.raises(LeaseLost):
            tx.jobs.cancellation_requested(claimed.id, claimed.token + 1)
