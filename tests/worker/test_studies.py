"""Studies: each trial runs once, despite lost workers, and the winner is compared once."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core.data import synthetic_dataset
from core.jobs import parse
from core.store import Study, Trial
from core.store.clock import utc_now
from core.store.lifecycle.deletion import UNAUDITED_ACTOR, DeletionMode, delete_objects
from core.store.repositories.studies import TrialResult
from core.store.trash.kinds import KINDS
from core.store.visibility import limited_to
from core.studies.pruning import MEDIAN_STARTUP_TRIALS
from tests.worker.conftest import opened_inline_worker
from tests.worker.inline_worker import InlineWorker
from tests.worker.interruption import on_phases, shut_down_when
from tests.worker.studies import LEAVES, RATE, add_study
from worker.job.lease import Lease
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_job, run_jobs
from worker.runners.trial import sample_trial

SAMPLERS = ("random", "qmc", "tpe")


class Finished(NamedTuple):
    """A study that has ended, with its trials and the only worker of its store."""

    inline_worker: InlineWorker
    study: Study
    trials: list[Trial]


@pytest.fixture
def dataset_id(inline_worker: InlineWorker) -> str:
    """A small dataset."""
    return add_dataset(inline_worker)


@pytest.fixture(scope="module")
def plain(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """A study whose best trial is no better than the default on held-out queries."""
    with opened_inline_worker(migrated_file, tmp_path_factory.mktemp("plain")) as inline_worker:
        study = add_study(inline_worker, add_dataset(inline_worker), alias="champion")
        yield Finished(inline_worker, *finish(inline_worker, study))


@pytest.fixture(scope="module")
def improved(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """A study whose default hardly learns, so that its best trial is better."""
    default = {"num_leaves": 2, "learning_rate": 1e-6}
    with opened_inline_worker(migrated_file, tmp_path_factory.mktemp("improved")) as inline_worker:
        study = add_study(
            inline_worker, add_dataset(inline_worker), alias="champion", hyperparameters=default
        )
        yield Finished(inline_worker, *finish(inline_worker, study))


def add_dataset(inline_worker: InlineWorker) -> str:
    """Add a small dataset."""
    return inline_worker.add(synthetic_dataset(60, seed=1), "synthetic")


def finish(inline_worker: InlineWorker, study: Study) -> tuple[Study, list[Trial]]:
    """Run all queued jobs and return the study with its trials."""
    run_jobs(inline_worker.store, inline_worker.settings, StopFlag(), "w1", RUNNERS)
    with inline_worker.store.read() as tx:
        return tx.studies.get(study.id), tx.studies.trials(study.id)


def outcome(trials: list[Trial]) -> list[tuple[Any, ...]]:
    """Return the decisive values of the trials."""
    return [(trial.number, trial.status, trial.parameters, trial.value) for trial in trials]


@pytest.mark.long
def test_the_end_of_a_trial_queues_the_next_one(plain: Finished) -> None:
    """A study runs the requested number of trials, the default first, and concludes without a coordinator."""
    _, study, trials = plain
    assert study.status == "succeeded", study.problem
    assert [trial.source for trial in trials] == ["default", "sampler", "sampler", "sampler"]
    assert all(trial.status == "succeeded" for trial in trials), [trial.problem for trial in trials]
    assert trials[0].parameters == {LEAVES: 7, RATE: 0.1}
    best = max(trials, key=lambda trial: (trial.value or 0.0, -trial.number))
    assert (study.best_number, study.best_value) == (best.number, best.value)
    assert study.default_value == trials[0].value
    assert study.conclusion is not None
    assert study.conclusion["winner_number"] == best.number
    assert study.conclusion["cross_validated"] == {"winner": best.value, "default": trials[0].value}


@pytest.mark.long
def test_the_conclusion_is_the_comparison_on_held_out_queries(improved: Finished) -> None:
    """Winner and default are refitted without the held-out queries, and compared on these only."""
    inline_worker, study, _ = improved
    assert study.conclusion is not None
    with inline_worker.store.read() as tx:
        comparison = tx.comparisons.get(study.conclusion["comparison_id"])
        refits = [tx.jobs.get(job_id or "") for job_id in (study.default_job_id, study.winner_job_id)]
    (pair,) = comparison.pairs
    held_out = study.conclusion["held_out"]
    assert held_out["difference"] == pair["metrics"]["ndcg@5"]["difference"]
    assert held_out["p_value"] == pair["metrics"]["ndcg@5"]["adjusted_p"]
    assert held_out["queries"] == 18
    expected = {"no evidence": "no-evidence"}.get(pair["verdict"], pair["verdict"])
    assert study.conclusion["verdict"] == expected
    tested = [set(inline_worker.tested_queries(refit.result or {})) for refit in refits]
    assert tested[0] == tested[1]
    assert all(refit.spec["validation"] is None for refit in refits)


@pytest.mark.long
def test_folds_are_pruned_by_their_queries(inline_worker: InlineWorker, dataset_id: str) -> None:
    """A trial that is significantly worse than the best one after a fold skips the remaining folds."""
    # No leaf can have so many documents, and a tree without a split gives all documents the same score.
    hopeless = {"/hyperparameters/min_data_in_leaf": {"type": "int", "low": 10_000, "high": 20_000}}
    study = add_study(
        inline_worker, dataset_id, trials=3, validation={"folds": 3}, pruner="wilcoxon", search_space=hopeless
    )
    study, trials = finish(inline_worker, study)
    assert [trial.status for trial in trials] == ["succeeded", "pruned", "pruned"]
    assert [len(trial.folds or ()) for trial in trials] == [3, 1, 1]
    assert study.best_number == 0
    assert study.conclusion is not None
    assert study.conclusion["verdict"] == "no-evidence"
    assert study.conclusion["comparison_id"] is None


@pytest.mark.long
@pytest.mark.parametrize(
    "sampler", [name if name == "tpe" else pytest.param(name, marks=pytest.mark.slow) for name in SAMPLERS]
)
def test_a_lost_worker_changes_nothing(plain: Finished, sampler: str) -> None:
    """A trial whose worker is lost keeps its parameters, and no trial runs twice."""
    inline_worker, undisturbed, expected = plain
    dataset_id = str(undisturbed.spec["dataset_id"])
    if sampler != undisturbed.spec["sampler"]:
        undisturbed, expected = finish(inline_worker, add_study(inline_worker, dataset_id, sampler=sampler))
    disturbed = add_study(inline_worker, dataset_id, sampler=sampler)
    for _ in range(3):
        run = JobRun.claim_next(inline_worker.store, inline_worker.settings, RUNNERS, "lost")
        assert run is not None
        if run.kind == "trial":
            _lose(inline_worker, run)
        run_one(inline_worker)
    disturbed, trials = finish(inline_worker, disturbed)
    assert outcome(trials) == outcome(expected)
    assert disturbed.best_number == undisturbed.best_number


@pytest.mark.long
def test_a_study_without_improvement_ends_early(inline_worker: InlineWorker, dataset_id: str) -> None:
    """Patience counts trials without a new best, so the study ends before all requested trials."""
    # No leaf can have so many documents, and a tree without a split gives all documents the same score.
    hopeless = {"/hyperparameters/min_data_in_leaf": {"type": "int", "low": 10_000, "high": 20_000}}
    study = add_study(
        inline_worker, dataset_id, trials=9, patience=2, search_space=hopeless, sampler="random"
    )
    study, trials = finish(inline_worker, study)
    assert study.status == "succeeded"
    assert [trial.status for trial in trials] == ["succeeded"] * 3


@pytest.mark.long
def test_curves_are_pruned_by_the_median(inline_worker: InlineWorker, dataset_id: str) -> None:
    """A trial whose best value stays below the median of the earlier ones ends within its first fold."""
    trees = {"num_iterations": 15}
    # The default and the first five added trials can learn; the sixth cannot.
    study = add_study(
        inline_worker, dataset_id, trials=7, pruner="median", sampler="random", hyperparameters=trees
    )
    hopeless = {LEAVES: 2, RATE: 1e-6}
    with inline_worker.store.begin() as tx:
        for _ in range(MEDIAN_STARTUP_TRIALS):
            tx.studies.add_trial(study.id, {LEAVES: 7, RATE: 0.1})
        tx.studies.add_trial(study.id, hopeless)
    study, trials = finish(inline_worker, study)
    (lost,) = [trial for trial in trials if trial.parameters == hopeless]
    assert (lost.status, lost.folds) == ("pruned", [])
    assert lost.curve is not None
    assert max(step for step, _ in lost.curve) < 15
    assert trials[0].status == "succeeded"


@pytest.mark.long
@pytest.mark.parametrize("after", [3, 7])
def test_the_curve_of_an_interrupted_trial_is_complete(
    inline_worker: InlineWorker, dataset_id: str, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """The first fold's curve has the iterations before the interruption, in this fold or in the next one."""
    study = add_study(inline_worker, dataset_id, trials=1, pruner="median", validation={"folds": 2})
    with monkeypatch.context() as patch:
        stop = shut_down_when(patch, lambda progress: progress.get("iteration") == after)
        run_jobs(inline_worker.store, inline_worker.settings, stop, "w1", RUNNERS)
    with inline_worker.store.read() as tx:
        (job_id,) = tx.studies.active_jobs(study.id)
        checkpoint = tx.jobs.get(job_id).checkpoint
    assert checkpoint is not None
    assert checkpoint["iteration"] == after
    _, (trial,) = finish(inline_worker, study)
    assert trial.curve is not None
    assert [iteration for iteration, _ in trial.curve] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("sampler", ["grid", "tpe"])
def test_a_study_ends_after_each_combination_once(
    inline_worker: InlineWorker, dataset_id: str, sampler: str
) -> None:
    """A trial added by hand replaces the sampled trial with its parameters; no other is repeated."""
    space = {LEAVES: {"type": "choice", "choices": [2, 3, 5]}}
    study = add_study(
        inline_worker, dataset_id, trials=9, search_space=space, sampler=sampler, sampler_limit=3
    )
    with inline_worker.store.begin() as tx:
        tx.studies.add_trial(study.id, {LEAVES: 5})
    _, trials = finish(inline_worker, study)
    _, *others = [trial.parameters for trial in trials]
    assert sorted(each[LEAVES] for each in others if each) == [2, 3, 5]


def test_a_pause_counts_from_the_first_trial(
    inline_worker: InlineWorker, dataset_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the part of a pause after the start of the first trial extends the time limit."""
    study = add_study(inline_worker, dataset_id, seconds=100.0)
    begun = utc_now()

    def at(seconds: float) -> None:
        monkeypatch.setattr(
            "core.store.repositories.studies.utc_now", lambda: begun + timedelta(seconds=seconds)
        )

    def change(name: str) -> Study:
        with inline_worker.store.begin() as tx:
            changed: Study = getattr(tx.studies, name)(study.id)
            return changed

    at(0.0)
    change("pause")
    at(1_000.0)
    assert change("resume").paused_seconds == 0.0
    change("pause")
    at(3_000.0)
    with inline_worker.store.begin() as tx:
        tx.studies.start_trial(tx.studies.locked(study.id), tx.studies.trial(study.id, 0), {}, {})
    at(3_005.0)
    assert change("resume").paused_seconds == 5.0
    change("pause")
    at(3_015.0)
    assert change("resume").paused_seconds == 15.0


@pytest.mark.long
def test_a_cancelled_study_has_no_conclusion(
    inline_worker: InlineWorker, dataset_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study that is cancelled while its conclusion is computed stays cancelled, and no alias moves."""
    default = {"num_leaves": 2, "learning_rate": 1e-6}
    study = add_study(inline_worker, dataset_id, trials=2, alias="champion", hyperparameters=default)

    def cancel(_lease: Lease, phase: str) -> None:
        if phase == "comparing":
            with inline_worker.store.begin() as tx:
                tx.studies.cancel(study.id)

    on_phases(monkeypatch, cancel)
    ended, trials = finish(inline_worker, study)
    assert ended.best_number == 1, trials
    assert (ended.status, ended.conclusion) == ("cancelled", None)
    with inline_worker.store.read() as tx:
        assert tx.jobs.get(ended.conclude_job_id or "").status == "cancelled"
        assert not tx.models.aliases_of_names(["web"]).get("web")


@pytest.mark.long
def test_an_alias_moves_only_to_a_better_winner(improved: Finished, plain: Finished) -> None:
    """If the winner is not shown to be better, the alias does not move."""
    conclusions = [finished.study.conclusion or {} for finished in (improved, plain)]
    assert conclusions[0]["verdict"] == "better", conclusions[0]["sentence"]
    assert conclusions[1]["verdict"] != "better", conclusions[1]["sentence"]
    winner = conclusions[0]["winner_model"]
    assert _aliases(improved) == {"champion": int(winner.removeprefix("web:"))}
    assert conclusions[0]["promoted"] == f"web@champion points at {winner}"
    assert _aliases(plain) == {}


def _aliases(finished: Finished) -> dict[str, int]:
    with finished.inline_worker.store.read() as tx:
        return dict(tx.models.aliases_of_names(["web"])["web"])


def _lose(inline_worker: InlineWorker, run: JobRun) -> None:
    """Lose a worker after it has sampled the parameters of a trial."""
    sample_trial(run, parse(run.kind, run.spec))  # type: ignore[arg-type]
    with inline_worker.store.begin() as tx:
        for lost in tx.jobs.running_on("lost"):
            tx.jobs.recover(lost, 5)


def run_one(inline_worker: InlineWorker) -> None:
    """Run one job."""
    run = JobRun.claim_next(inline_worker.store, inline_worker.settings, RUNNERS, "w1")
    assert run is not None
    assert run_job(run, inline_worker.settings, StopFlag()) == "succeeded"


def test_a_trial_that_is_cancelled_in_another_project_ends_in_its_study(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """A key of the project to which the job of a trial was moved does not see the study, which goes on."""
    store, study = inline_worker.store, add_study(inline_worker, dataset_id)
    with store.begin() as tx:
        (job_id,) = tx.studies.active_jobs(study.id)
        tx.jobs.label(job_id, {"project": "shop"}, {})
    with limited_to(("shop",)), store.begin() as tx:
        tx.jobs.request_cancel(job_id)
    with store.read() as tx:
        assert tx.studies.trial(study.id, 0).status == "cancelled"
        assert tx.studies.get(study.id).status == "failed"


def test_a_study_protects_the_datasets_that_it_reads_later(
    inline_worker: InlineWorker, dataset_id: str
) -> None:
    """The data to validate and to test on cannot be deleted before the study ends."""
    others = [inline_worker.add(synthetic_dataset(20, seed=seed), str(seed)) for seed in (2, 3)]
    validation, test_dataset_id = {"dataset_id": others[0]}, others[1]
    add_study(inline_worker, dataset_id, validation=validation, test=None, test_dataset_id=test_dataset_id)
    for each in (dataset_id, *others):
        (refused,) = delete_objects(
            inline_worker.store, KINDS["dataset"], [each], DeletionMode(), UNAUDITED_ACTOR
        ).refused
        assert [holder.kind for holder in refused.holders] == ["job", "study"]


@pytest.mark.parametrize("ending", ["succeeded", "failed"])
def test_a_study_without_its_test_data_fails(
    inline_worker: InlineWorker, dataset_id: str, ending: str
) -> None:
    """The end of the last trial is recorded, by its worker or by a sweep, although no refit can follow."""
    store, test_dataset_id = inline_worker.store, inline_worker.add(synthetic_dataset(20, seed=2), "test")
    study = add_study(inline_worker, dataset_id, trials=1, test=None, test_dataset_id=test_dataset_id)
    with store.begin() as tx:
        (job_id,) = tx.studies.active_jobs(study.id)
        job = tx.jobs.claim(job_id, "w1", 15)
        assert job is not None
        training = {name: study.spec["base"][name] for name in ("loss", "hyperparameters")}
        tx.studies.start_trial(tx.studies.locked(study.id), tx.studies.trial(study.id, 0), {}, training)
        tx.studies.end_trial(study.id, 0, TrialResult("succeeded", 0.5, [], None, [], 3))
        tx.datasets.get(test_dataset_id).deleted_at = utc_now()
    with store.begin() as tx:
        if ending == "succeeded":
            tx.jobs.succeed(job_id, job.token, {})
        else:
            for lost in tx.jobs.running_on(""):
                tx.jobs.recover(lost, 1)
    with store.read() as tx:
        ended = tx.studies.get(study.id)
        assert tx.jobs.get(job_id).status == ending
        assert tx.studies.active_jobs(study.id) == []
    assert (ended.status, ended.conclude_job_id, ended.default_job_id) == ("failed", None, None)
    assert test_dataset_id in str(ended.problem)
