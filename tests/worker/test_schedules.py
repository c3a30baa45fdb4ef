"""Advancing schedules: due times, missed runs, promotions, keys and quotas."""

import threading
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from app.schedules.submission import job_spec
from core.data import synthetic_dataset
from core.store import Store
from core.store.clock import utc_now
from core.store.repositories.ids import first_id
from core.store.repositories.schedules import RunStatus
from tests.worker.almanac import DAY, NIGHT, Almanac
from tests.worker.inline_worker import InlineWorker

STUDY = {
    "kind": "study",
    "name": "leaves",
    "model_name": "web",
    "dataset": "clicks",
    "test": {"fraction": 0.4},
    "base": {"loss": {"name": "lambdarank"}, "hyperparameters": {"auto": True, "num_leaves": 6}},
    "search_space": {"/hyperparameters/num_leaves": {"type": "choice", "choices": [4, 6, 8]}},
    "sampler": "grid",
    "budget": {"trials": 3},
}


@pytest.fixture
def almanac(inline_worker: InlineWorker) -> Almanac:
    """A store with a dataset named `clicks`."""
    return Almanac(inline_worker)


def test_a_run_trains_on_the_newest_dataset_when_it_is_due(almanac: Almanac) -> None:
    """The run starts once, not before its due time; the next due time is set."""
    schedule_id = almanac.add()
    newest = almanac.add_data(2)
    assert almanac.sweep(NIGHT - timedelta(microseconds=1)) == 0
    almanac.work(NIGHT)
    almanac.work(NIGHT + timedelta(hours=1))
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.datasets, run.missed_since) == ("trained", {"train": newest}, None)
    assert run.due_at == NIGHT
    with almanac.store.read() as tx:
        model = tx.models.get(str(run.model_id))
        assert model.dataset_id == newest
        assert tx.jobs.get(str(run.job_id)).spec["dataset_id"] == newest
    assert almanac.row(schedule_id).next_run_at == NIGHT + DAY


def test_a_schedule_ignores_datasets_of_other_projects(almanac: Almanac) -> None:
    """Datasets with the same name in other projects are ignored; those without a project are used."""
    schedule_id = almanac.add(project="web")
    mine, other = almanac.add_data(2), almanac.add_data(3)
    with almanac.store.begin() as tx:
        tx.projects.move_data(tx.datasets.get(mine), "web")
        tx.projects.move_data(tx.datasets.get(other), "ads")
    almanac.work(NIGHT)
    shared = almanac.add_data(4)
    almanac.work(NIGHT + DAY)
    assert [run.datasets for run in almanac.runs(schedule_id)] == [{"train": mine}, {"train": shared}]


def test_missed_due_times_have_one_run(almanac: Almanac) -> None:
    """The run is due at the last missed time and records the first missed time."""
    schedule_id = almanac.add()
    almanac.work(NIGHT + 3 * DAY + timedelta(minutes=7))
    (run,) = almanac.runs(schedule_id)
    assert (run.due_at, run.missed_since) == (NIGHT + 3 * DAY, NIGHT)
    assert almanac.row(schedule_id).next_run_at == NIGHT + 4 * DAY


def test_a_due_time_during_a_run_is_skipped(almanac: Almanac) -> None:
    """The skipped run is recorded with the reason."""
    schedule_id = almanac.add()
    assert almanac.sweep(NIGHT) == 1
    assert almanac.sweep(NIGHT + DAY) == 0
    first, second = almanac.runs(schedule_id)
    assert (first.status, second.status) == ("queued", "skipped")
    assert first.id in str(second.detail)
    almanac.work(NIGHT + DAY)
    assert almanac.statuses(schedule_id) == ["trained", "skipped"]


def test_a_clock_set_back_runs_nothing_twice(almanac: Almanac) -> None:
    """A due time is not run twice, even after a change that computes the due time again."""
    schedule_id = almanac.add()
    almanac.work(NIGHT)
    assert almanac.sweep(NIGHT - timedelta(hours=2)) == 0
    with almanac.store.begin() as tx:
        tx.schedules.locked(schedule_id).next_run_at = NIGHT  # as a change at that time computes it
    assert almanac.sweep(NIGHT) == 0
    assert almanac.statuses(schedule_id) == ["trained"]
    assert almanac.row(schedule_id).next_run_at == NIGHT + DAY


def test_a_clock_that_ran_ahead_skips_no_due_time(almanac: Almanac) -> None:
    """After a run ten days ahead, each due time from the corrected time on still has one run."""
    schedule_id = almanac.add()
    almanac.work(NIGHT + 10 * DAY)
    for day in range(1, 12):
        almanac.work(NIGHT + day * DAY - timedelta(hours=1))
        almanac.work(NIGHT + day * DAY)
    assert [run.due_at for run in almanac.runs(schedule_id)] == [
        NIGHT + day * DAY for day in (10, *range(1, 10), 11)
    ]
    assert almanac.row(schedule_id).next_run_at == NIGHT + 12 * DAY


def test_several_workers_run_a_due_time_once(almanac: Almanac) -> None:
    """Parallel sweeps queue one job for each schedule."""
    schedule_ids = [almanac.add() for _ in range(3)]
    queued: list[int] = []
    barrier = threading.Barrier(4)

    def sweep() -> None:
        barrier.wait()
        queued.append(almanac.sweep(NIGHT))

    threads = [threading.Thread(target=sweep) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(queued) == len(schedule_ids)
    assert [almanac.statuses(schedule_id) for schedule_id in schedule_ids] == [["queued"]] * 3


@pytest.mark.long
def test_a_better_model_is_promoted_and_a_worse_one_refused(almanac: Almanac) -> None:
    """Each run has the reason of the gate and an event."""
    judged = almanac.add_data(9, "judged")
    schedule_id = almanac.add(alias="champion")
    almanac.set_gate(judged, require="not_worse", max_slice_drop=1.0)
    for night in range(2):  # the first run sets the alias without a comparison; then two equal models
        almanac.work(NIGHT + night * DAY)
    almanac.set_gate(judged, require="better")
    almanac.work(NIGHT + 2 * DAY)
    first, second, third = almanac.runs(schedule_id)
    assert [first.status, second.status, third.status] == ["promoted", "promoted", "refused"]
    assert "without a comparison" in str(first.detail)
    assert first.promotion_job_id is None
    assert second.promotion_job_id is not None
    assert "web:3" in str(third.detail)
    assert almanac.champion() == 2
    with almanac.store.read() as tx:
        events = tx.events.page(None, 50, kinds=["schedule.ran"]).items
    assert sorted(event.data["status"] for event in events) == ["promoted", "promoted", "refused"]


def test_two_schedules_promote_to_one_alias(almanac: Almanac) -> None:
    """The second model is compared with the first, after the first was promoted."""
    judged = almanac.add_data(9, "judged")
    almanac.set_gate(judged, require="not_worse", max_slice_drop=1.0)
    first = almanac.add(alias="champion")
    almanac.work(NIGHT)
    second = almanac.add(alias="champion", next_run_at=NIGHT + DAY)
    almanac.sweep(NIGHT + DAY)
    almanac.run_jobs()
    assert almanac.sweep(NIGHT + DAY) == 1
    waiting = {run.status: run.detail for run in map(almanac.last_run, (first, second))}
    assert set(waiting) == {"promoting", "queued"}
    assert "until the promotion" in str(waiting["queued"])
    almanac.work(NIGHT + DAY)
    assert [almanac.last_run(each).status for each in (first, second)] == ["promoted", "promoted"]
    assert almanac.moves() == [(None, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("end", ["cancelled", "removed", "deleted"])
def test_a_run_waits_until_another_promotion_ends(almanac: Almanac, end: str) -> None:
    """The wait ends however the other promotion, its schedule or the alias ends."""
    judged = almanac.add_data(9, "judged")
    almanac.set_gate(judged, require="not_worse", max_slice_drop=1.0)
    schedules = [almanac.add(alias="champion")]
    almanac.work(NIGHT)
    schedules.append(almanac.add(alias="champion", next_run_at=NIGHT + DAY))
    almanac.sweep(NIGHT + DAY)
    almanac.run_jobs()
    almanac.sweep(NIGHT + DAY)
    promoting, waiting = sorted(schedules, key=lambda each: almanac.last_run(each).promotion_job_id is None)
    promotion_id = str(almanac.last_run(promoting).promotion_job_id)
    with almanac.store.begin() as tx:
        if end == "cancelled":
            tx.jobs.request_cancel(promotion_id)
        elif end == "removed":
            tx.aliases.remove("web", "champion")
        else:
            tx.schedules.delete(promoting)
    almanac.work(NIGHT + DAY)
    run = almanac.last_run(waiting)
    assert run.status == "promoted", run.detail
    assert ("without a comparison" in str(run.detail)) == (end == "removed")
    if end == "cancelled":
        assert almanac.last_run(promoting).status == "failed"


def test_a_comparison_is_repeated_if_the_alias_is_moved(almanac: Almanac) -> None:
    """The model is compared with the version that the alias has after the move."""
    judged = almanac.add_data(9, "judged")
    almanac.set_gate(judged, require="not_worse", max_slice_drop=1.0)
    schedule_id = almanac.add(alias="champion")
    almanac.work(NIGHT)
    almanac.work_without_schedule()
    almanac.sweep(NIGHT + DAY)
    almanac.run_jobs()
    almanac.sweep(NIGHT + DAY)
    with almanac.store.begin() as tx:
        tx.aliases.move("web", "champion", 2)
    almanac.work(NIGHT + DAY)
    run = almanac.last_run(schedule_id)
    assert run.status == "promoted", run.detail
    assert almanac.moves() == [(None, 1), (1, 2), (2, 3)]


def test_a_run_without_its_gate_promotes_nothing(almanac: Almanac) -> None:
    """The run fails and names the version that was not promoted."""
    judged = almanac.add_data(9, "judged")
    schedule_id = almanac.add(alias="champion")
    almanac.set_gate(judged)
    with almanac.store.begin() as tx:
        tx.aliases.delete_gate("web", "champion")
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert run.status == "failed"
    assert "web:1 was not promoted" in str(run.detail)
    assert run.model_id is not None


@pytest.mark.long
def test_a_run_without_new_data_is_skipped_unless_requested(almanac: Almanac) -> None:
    """A new dataset with the same name is used by the next run."""
    schedule_id = almanac.add(only_new_data=True)
    for night in range(2):
        almanac.work(NIGHT + night * DAY)
    with almanac.store.begin() as tx:
        tx.schedules.request_run(schedule_id)
    almanac.work(NIGHT + DAY)
    almanac.add_data(2)
    almanac.work(NIGHT + 2 * DAY)
    assert almanac.statuses(schedule_id) == ["trained", "skipped", "trained", "trained"]
    assert "No new data" in str(almanac.runs(schedule_id)[1].detail)


def test_only_new_data_skips_no_run_without_datasets(almanac: Almanac) -> None:
    """A drift report has no datasets by name, but new requests to the model each day."""
    almanac.inline_worker.training_result(almanac.add_data(2))
    schedule_id = almanac.add(job={"kind": "drift", "model": "web:1"}, only_new_data=True)
    assert almanac.sweep(NIGHT) == 1
    with almanac.store.begin() as tx:
        run = tx.schedules.active_run(schedule_id)
        assert run is not None
        tx.schedules.finish(run, RunStatus.SUCCEEDED, "No drift.")
    assert almanac.sweep(NIGHT + DAY) == 1
    assert almanac.statuses(schedule_id) == ["succeeded", "queued"]


def test_a_broken_schedule_stops_no_other(almanac: Almanac) -> None:
    """An unknown time zone disables its schedule with a problem, and does not affect other schedules."""
    broken = almanac.add(timezone="Europe/Atlantis")
    whole = almanac.add()
    assert almanac.sweep(NIGHT) == 1
    assert almanac.statuses(whole) == ["queued"]
    row, (run,) = almanac.row(broken), almanac.runs(broken)
    assert (row.enabled, row.next_run_at, run.status, run.due_at) == (False, None, "failed", NIGHT)
    assert row.problem is not None
    assert "log of the worker" in row.problem["detail"]
    almanac.work(NIGHT)
    assert almanac.statuses(broken) == ["failed"]


def test_a_revoked_key_pauses_its_schedules(almanac: Almanac) -> None:
    """The run fails, and the schedule is disabled with a problem."""
    with almanac.store.begin() as tx:
        key, _ = tx.api_keys.create("ci", ["write"])
    schedule_id = almanac.add(key_id=key.id)
    with almanac.store.begin() as tx:
        tx.api_keys.revoke(key.id)
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    row = almanac.row(schedule_id)
    assert run.status == "failed"
    assert key.id in str(run.detail)
    assert (row.enabled, row.next_run_at) == (False, None)
    assert row.problem is not None
    assert "revoked" in row.problem["detail"]
    assert almanac.waiting() == []


def test_a_key_revoked_during_the_training_promotes_nothing(almanac: Almanac) -> None:
    """The training ends, and the promotion does not start."""
    with almanac.store.begin() as tx:
        key, _ = tx.api_keys.create("ci", ["write"])
    almanac.set_gate(almanac.add_data(9, "judged"))
    schedule_id = almanac.add(alias="champion", key_id=key.id)
    almanac.sweep(NIGHT)
    with almanac.store.begin() as tx:
        tx.api_keys.revoke(key.id)
    almanac.work(NIGHT)
    assert almanac.statuses(schedule_id) == ["failed"]
    with almanac.store.read() as tx:
        assert tx.aliases.find("web", "champion") is None


@pytest.mark.parametrize("kind", ["train", "study", "clicks"])
def test_a_run_waits_for_the_quota_of_its_key(almanac: Almanac, kind: str) -> None:
    """A run that is due while the quota is used up starts later; the next due time is skipped meanwhile."""
    almanac.work_without_schedule()
    serve(almanac, minutes=60)
    with almanac.store.begin() as tx:
        key, _ = tx.api_keys.create("ci", ["write"], max_active_jobs=1)
        other = tx.jobs.add("train", {}, key_id=key.id)
    job = {"train": {}, "study": STUDY, "clicks": {"served_clicks": {"days": 3}}}[kind]
    schedule_id = almanac.add(key_id=key.id, job=job)
    assert almanac.sweep(NIGHT) == 0
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.started_at, run.detail) == (
        "queued", None, "Waits to start until fewer than 1 jobs of its API key wait or run."
    )  # fmt: skip
    assert almanac.sweep(NIGHT + DAY) == 0
    with almanac.store.begin() as tx:
        tx.jobs.request_cancel(other.id)
    assert almanac.sweep(NIGHT + DAY) == 1
    run, skipped = almanac.runs(schedule_id)
    assert (run.detail, skipped.status) == (None, "skipped")
    assert run.started_at is not None


def test_a_run_that_the_quota_never_allows_fails(almanac: Almanac) -> None:
    """A run beyond the quota fails with the reason, and the schedule stays enabled."""
    with almanac.store.begin() as tx:
        key, _ = tx.api_keys.create("ci", ["write"], max_active_jobs=0)
    schedule_id = almanac.add(key_id=key.id)
    assert almanac.sweep(NIGHT) == 0
    (run,) = almanac.runs(schedule_id)
    assert run.status == "failed"
    assert "jobs" in str(run.detail)
    assert almanac.row(schedule_id).next_run_at == NIGHT + DAY


def test_a_dataset_of_another_project_is_not_taken(almanac: Almanac) -> None:
    """A key for one project uses its dataset, even if another project has a newer one with the same name."""
    own = almanac.add_data(3, "shared")
    other = almanac.add_data(4, "shared")
    with almanac.store.begin() as tx:
        key, _ = tx.api_keys.create("bound", ["write"], projects=["search"])
        tx.datasets.get(own).project = "search"
        tx.datasets.get(other).project = "ads"
    schedule_id = almanac.add(key_id=key.id, project="search", job={"dataset": "shared"})
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.datasets) == ("trained", {"train": own}), run.detail
    with almanac.store.read() as tx:
        assert tx.models.get(str(run.model_id)).project == "search"


def test_the_model_of_an_automatic_training_is_promoted_through_the_gate(almanac: Almanac) -> None:
    """A run searches on the newest dataset, and queues the promotion of its model."""
    training = almanac.add()
    almanac.work(NIGHT)
    almanac.work(NIGHT + DAY)
    newest = almanac.add_data(2)
    almanac.set_gate(newest)
    best = {"kind": "auto-train", "model_name": "web", "dataset": "clicks", "budget_seconds": 60}
    schedule_id = almanac.add("champion", job=best)
    with almanac.store.begin() as tx:
        tx.aliases.move("web", "champion", 1)
        tx.schedules.delete(training)
    almanac.sweep(NIGHT)
    (job_id,) = almanac.waiting()
    with almanac.store.begin() as tx:
        job = tx.jobs.get(job_id)
        assert (job.kind, job.spec["dataset_id"]) == ("auto-train", newest)
        assert (job.spec["metric"], job.spec["budget_seconds"]) == ("ndcg@10", 60.0)
        job.status, job.result = "succeeded", {"model_id": tx.models.resolve("web:2").id}
    almanac.sweep(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert run.status == "promoting"
    with almanac.store.read() as tx:
        promotion = tx.jobs.get(str(run.promotion_job_id))
    assert (promotion.kind, promotion.spec["alias"]) == ("promote", "champion")


@pytest.mark.parametrize(
    ("end", "status", "detail"),
    [
        ("succeeded", "succeeded", "Trial 1 is better than the default."),
        ("failed", "failed", "The default failed"),
        ("deleted", "failed", "was deleted"),
    ],
)
def test_a_run_tunes_on_the_newest_dataset(almanac: Almanac, end: str, status: str, detail: str) -> None:
    """Automatic sizes are chosen again for the newest dataset, and the run ends with the study."""
    schedule_id = almanac.add(job=STUDY)
    newest = almanac.add_data(2)
    with almanac.store.begin() as tx:
        tx.datasets.get(newest).statistics = {"queries": 400, "documents": 20_000, "features": 4}
    assert almanac.sweep(NIGHT) == 1
    assert almanac.sweep(NIGHT) == 0
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.job_id, run.datasets) == ("running", None, {"train": newest})
    with almanac.store.begin() as tx:
        row = tx.studies.get(str(run.study_id))
        (trial,) = (tx.jobs.get(job_id) for job_id in tx.studies.active_jobs(row.id))
        assert (row.trials, row.spec["sampler_limit"], trial.spec["dataset_id"]) == (3, 2, newest)
        assert row.spec["base"]["hyperparameters"]["learning_rate"] == 0.1
        assert row.spec["base"]["hyperparameters"]["num_leaves"] == 6
        row.status = end if end != "deleted" else row.status
        row.finished_at, row.deleted_at = NIGHT, NIGHT if end == "deleted" else None
        row.conclusion = {"sentence": detail} if end == "succeeded" else None
        row.problem = {"title": detail} if end == "failed" else None
    almanac.sweep(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert run.status == status
    assert detail in str(run.detail)


@pytest.mark.parametrize("end", ["cancelled", "failed", "deleted"])
def test_a_job_without_a_model_fails_its_run(
    almanac: Almanac, store: Store, end: str, claim_job: Callable[..., Any]
) -> None:
    """The run fails with the reason, and the next due time is run as usual."""
    schedule_id = almanac.add()
    almanac.sweep(NIGHT)
    (job_id,) = almanac.waiting()
    with store.begin() as tx:
        if end == "cancelled":
            tx.jobs.request_cancel(job_id)
        else:
            tx.jobs.get(job_id).deleted_at = NIGHT if end == "deleted" else None
            tx.jobs.get(job_id).spec = {"kind": "train"}
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert run.status == "failed"
    assert job_id in str(run.detail)
    almanac.work(NIGHT + DAY)
    assert almanac.statuses(schedule_id) == ["failed", "trained"]


@pytest.mark.long
def test_sizes_and_aliases_are_resolved_at_each_run(almanac: Almanac) -> None:
    """Automatic hyperparameters depend on the newest data, and a training continues the current champion."""
    almanac.work(NIGHT - DAY)
    schedule_id = almanac.add()
    almanac.work(NIGHT)
    with almanac.store.begin() as tx:
        tx.aliases.move("web", "champion", 1)
    continued = {"init_model": "web@champion", "hyperparameters": {"auto": True, "num_iterations": 3}}
    again = almanac.add(job=continued, cron="0 4 * * *", next_run_at=NIGHT + timedelta(hours=1))
    with almanac.store.begin() as tx:
        dataset = tx.datasets.newest("clicks")
        assert dataset is not None
        dataset.statistics = {"queries": 400, "documents": 20_000, "features": 4}
    almanac.work(NIGHT + DAY)  # trains web:2
    with almanac.store.begin() as tx:
        tx.aliases.move("web", "champion", 2)
    almanac.work(NIGHT + DAY + timedelta(hours=1))
    assert almanac.statuses(schedule_id) == ["trained", "trained"]
    with almanac.store.read() as tx:
        spec = tx.jobs.get(str(almanac.runs(again)[-1].job_id)).spec
    assert spec["init_model"] == "web:2"
    assert spec["hyperparameters"]["learning_rate"] == 0.1
    assert spec["hyperparameters"]["num_iterations"] == 3


def test_a_missing_dataset_fails_the_run(almanac: Almanac) -> None:
    """If no dataset has the name in the schedule, the run fails and its detail has the name."""
    schedule_id = almanac.add()
    with almanac.store.begin() as tx:
        dataset = tx.datasets.newest("clicks")
        assert dataset is not None
        dataset.name = "renamed"
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.due_at) == ("failed", NIGHT)
    assert "'clicks'" in str(run.detail)


def test_a_run_trains_on_the_clicks_on_served_rankings(almanac: Almanac) -> None:
    """Each run makes a click log without the last half hour, trains on it, and applies the gate."""
    schedule_id = almanac.add()
    almanac.work(NIGHT)
    with almanac.store.begin() as tx:
        tx.schedules.delete(schedule_id)
        tx.aliases.move("web", "champion", 1)
    almanac.set_gate(almanac.add_data(2, "judged"))
    clicks = {"correction": "additive"}
    served = {"days": 3, "actions": {"click": 1, "buy": 5}}
    schedule_id = almanac.add("champion", job={"clicks": clicks, "served_clicks": served}, only_new_data=True)
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert run.status == "failed"  # nothing was served
    assert "RANKERY_RANKING_LOG_SHARE" in str(run.detail)
    serve(almanac, minutes=31)
    serve(almanac, minutes=20, action="look")  # its users may still click
    for number in (1, 2):
        almanac.work(NIGHT + number * DAY)
        run = almanac.runs(schedule_id)[-1]
        assert run.status in ("promoted", "refused"), run.detail
        with almanac.store.read() as tx:
            job = tx.jobs.get(str(run.job_id))
            log = tx.click_logs.get(job.spec["clicks"]["log"])
        assert job.spec["clicks"]["correction"] == "additive"
        assert (log.source["kind"], log.source["model"], log.source["options"]) == (
            "served", "web", {"actions": {"click": 1, "buy": 5}}
        )  # fmt: skip
        assert log.statistics is not None
        assert (log.statistics["lists"], log.statistics["clicks"]) == (40, 40)
    with almanac.store.read() as tx:
        assert len(tx.click_logs.page(None, 10, status="ready").items) == 2


@pytest.mark.parametrize("changed", ["study", "train", "drift"])
def test_a_run_fails_if_its_schedule_no_longer_uses_served_clicks(almanac: Almanac, changed: str) -> None:
    """A run whose schedule no longer trains on served clicks fails with the reason; the next run goes on."""
    first = almanac.add()
    almanac.work(NIGHT)
    serve(almanac, minutes=60)
    schedule_id = almanac.add(job={"served_clicks": {"days": 3}})
    assert almanac.sweep(NIGHT) == 1
    new = {"study": STUDY, "train": almanac.row(first).job, "drift": {"kind": "drift", "model": "web:1"}}
    with almanac.store.begin() as tx:
        row = tx.schedules.locked(schedule_id)
        row.job, row.spec = new[changed], job_spec(tx, new[changed])
        tx.schedules.delete(first)
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.detail) == (
        "failed", "The schedule was changed while its click log was made. The next run has the new job."
    )  # fmt: skip
    assert almanac.row(schedule_id).enabled
    assert almanac.sweep(NIGHT + DAY) == 1


def test_a_run_trains_on_the_datasets_of_the_changed_schedule(almanac: Almanac) -> None:
    """The run trains on the datasets that the changed schedule names."""
    first = almanac.add()
    almanac.work(NIGHT)
    serve(almanac, minutes=60)
    schedule_id = almanac.add(job={"served_clicks": {"days": 3}})
    assert almanac.sweep(NIGHT) == 1
    other = almanac.add_data(1, "other clicks")
    changed = almanac.row(schedule_id).job | {"dataset": "other clicks"}
    with almanac.store.begin() as tx:
        row = tx.schedules.locked(schedule_id)
        row.job, row.spec = changed, job_spec(tx, changed)
        tx.schedules.delete(first)
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.datasets) == ("trained", {"train": other}), run.detail
    with almanac.store.read() as tx:
        assert tx.jobs.get(str(run.job_id)).spec["dataset_id"] == other


def test_a_training_on_clicks_waits_for_the_quota_of_its_key(almanac: Almanac) -> None:
    """A run whose click log is ready trains on it as soon as its key may have another job."""
    first = almanac.add()
    almanac.work(NIGHT)
    serve(almanac, minutes=60)
    with almanac.store.begin() as tx:
        tx.schedules.delete(first)
        key, _ = tx.api_keys.create("ci", ["write"], max_active_jobs=1)
    schedule_id = almanac.add(key_id=key.id, job={"served_clicks": {"days": 3}})
    assert almanac.sweep(NIGHT) == 1
    almanac.run_jobs()
    with almanac.store.begin() as tx:
        other = tx.jobs.add("train", {}, key_id=key.id)
    assert almanac.sweep(NIGHT) == 0
    (run,) = almanac.runs(schedule_id)
    assert (run.status, run.detail) == (
        "queued", "Waits to train on the clicks until fewer than 1 jobs of its API key wait or run."
    )  # fmt: skip
    with almanac.store.begin() as tx:
        tx.jobs.request_cancel(other.id)
    almanac.work(NIGHT)
    (run,) = almanac.runs(schedule_id)
    assert run.status == "trained", run.detail


def serve(almanac: Almanac, minutes: float, action: str = "click") -> None:
    """Record rankings of the dataset's documents some minutes ago, with an action on each second document."""
    first = utc_now() - timedelta(minutes=minutes)
    with almanac.store.begin() as tx:
        data = synthetic_dataset(40, seed=1, polynomial_seed=1, documents_per_query=8, n_features=4)
        rows = []
        for number, (start, stop) in enumerate(pairwise(data.query_boundaries)):
            at, query = first + timedelta(milliseconds=number), data.query_ids[number]
            row = {"id": first_id("srv_", at), "name": "web", "version": 1, "user": None, "session": None}
            documents = list(data.document_ids)[start:stop]
            content = {"query": query, "documents": documents}
            rows.append(row | {"content": content, "created_at": at})
        tx.served.add(rows)
        event = {"place": 1, "action": action, "at": utc_now()}
        tx.served.record([{**event, "ranking_id": row["id"]} for row in rows])
