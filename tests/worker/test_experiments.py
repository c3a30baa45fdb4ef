"""Advancing experiments: trainings, reports, dry runs, failures."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from core.data import synthetic_dataset
from core.doctor.corpora import Counts, recognise
from core.errors import WrongState
from core.experiments import RunResult, plan
from core.jobs.base import ACTIVE
from core.store import Experiment
from tests.worker.inline_worker import InlineWorker
from worker.job.experiments import MEASURED_ITERATIONS, corpus_notes, corpus_of, measured_runs, merge_folds
from worker.process.experiments import MAX_ACTIVE_TRAININGS, advance_all
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

TABLE = "table-5"  # two trainings, measured on their training data
SIZES = {"train": 12, "validation": 8, "test": 10}


class ExperimentWorker:
    """An inline worker with the datasets of experiments."""

    def __init__(self, inline_worker: InlineWorker) -> None:
        self.inline_worker, self.store = inline_worker, inline_worker.store
        self.datasets = [
            {
                "fold": fold,
                "name": "main",
                "part": part,
                "dataset_id": inline_worker.add(
                    synthetic_dataset(queries, seed=10 * fold + seed, documents_per_query=8, n_features=4),
                    f"{part}{fold}",
                ),
            }
            for fold in range(3)
            for seed, (part, queries) in enumerate(SIZES.items())
        ]

    def add(self, tables: list[str] | None = None, folds: tuple[int, ...] = (), **changed: Any) -> str:
        """Record an experiment and return its id."""
        values: dict[str, Any] = {
            "paper": "lambdaloss-2018",
            "tables": tables or [TABLE],
            "scale": "quick",
            "data": "folder",
            "source": "datasets",
            "folds": list(folds),
            "dry_run": False,
            "datasets": [each for each in self.datasets if each["fold"] in (folds or (0,))],
        }
        with self.store.begin() as tx:
            return tx.experiments.add(**(values | changed)).id

    def work(self) -> None:
        """Run all queued jobs."""
        queued = True
        while queued:
            run_jobs(self.store, self.inline_worker.settings, StopFlag(), "w1", RUNNERS)
            queued = bool(advance_all(self.store))

    def run_to_end(self, experiment_id: str) -> Experiment:
        """Run an experiment to its end and return it."""
        self.work()
        return self.row(experiment_id)

    def row(self, experiment_id: str) -> Experiment:
        """Return an experiment as it is now."""
        with self.store.read() as tx:
            return tx.experiments.get(experiment_id)

    def document(self, row: Experiment) -> dict[str, Any]:
        """Return the report or estimate of an experiment."""
        document: dict[str, Any] = json.loads(self.store.artifacts.read_bytes(str(row.report_key)))
        return document

    def statuses(self, experiment_id: str) -> list[str]:
        """Return the statuses of an experiment's trainings."""
        with self.store.read() as tx:
            return [state.status for state in tx.experiments.trainings(experiment_id)]


@pytest.fixture
def experiments(inline_worker: InlineWorker) -> ExperimentWorker:
    """An empty store with a worker and datasets."""
    return ExperimentWorker(inline_worker)


@pytest.mark.long
def test_folds_are_merged_and_trainings_are_shared(experiments: ExperimentWorker) -> None:
    """The values of all folds' queries count, and a later experiment on one of the folds trains nothing."""
    row = experiments.run_to_end(experiments.add(folds=(1, 2)))
    assert row.status == "succeeded", row.problem
    report = experiments.document(row)["report"]
    cells = report["tables"][0]["cells"]
    assert {cell["queries"] for cell in cells} == {2 * SIZES["train"]}
    with experiments.store.read() as tx:
        jobs = {state.row.fold: state.row.job_id for state in tx.experiments.trainings(row.id)}
    alone = experiments.run_to_end(experiments.add(folds=(2,)))
    with experiments.store.read() as tx:
        shared = tx.experiments.trainings(alone.id)
    assert all(state.row.is_shared for state in shared)
    assert jobs[2] in {state.row.job_id for state in shared}


def test_all_labels_of_the_data_become_binary(experiments: ExperimentWorker) -> None:
    """The paper's corpora have labels 0 to 4; other data may have others, such as fractions."""
    labels = [{"label": label, "documents": 5} for label in (0.0, 0.5, 1.0, 2.0, 7.0)]
    with experiments.store.begin() as tx:
        for each in experiments.datasets:
            tx.datasets.get(str(each["dataset_id"])).statistics = {"labels": labels}
    experiment_id = experiments.add(["table-1"], paper="softmax-cross-entropy-2019")
    advance_all(experiments.store)
    with experiments.store.read() as tx:
        maps = [state.row.spec["label_map"] for state in tx.experiments.trainings(experiment_id)]
    assert [each for each in maps if each] == 2 * [dict.fromkeys(("0.5", "2", "3", "4", "7"), 1.0)]


def test_labels_that_no_training_can_use_end_an_experiment_before_its_trainings(
    experiments: ExperimentWorker,
) -> None:
    """A dataset that was not ready at the submission is checked before the trainings are planned."""
    with experiments.store.begin() as tx:
        dataset = tx.datasets.get(str(experiments.datasets[1]["dataset_id"]))
        dataset.statistics = {"labels": [{"label": -1.0, "documents": 5}]}
    experiment_id = experiments.add()
    assert advance_all(experiments.store) == []
    row = experiments.row(experiment_id)
    assert (row.status, experiments.statuses(experiment_id)) == ("failed", [])
    assert "/validation: the smallest label is -1" in str(row.problem)


@pytest.mark.long
def test_a_training_without_a_result_is_reported_and_repeated_on_resuming(
    experiments: ExperimentWorker,
) -> None:
    """The report names the cancelled training; resuming keeps the successful training."""
    experiment_id = experiments.add()
    first, second = advance_all(experiments.store)
    with experiments.store.begin() as tx:
        tx.jobs.request_cancel(second.id)
    row = experiments.run_to_end(experiment_id)
    report = experiments.document(row)["report"]
    assert row.status == "succeeded"
    assert sorted(experiments.statuses(experiment_id)) == ["cancelled", "succeeded"]
    assert any(second.id in note and "cancelled" in note for note in report["notes"])
    assert "1 without a result" in str(row.sentence)
    assert [cell["missing"] for cell in report["tables"][0]["cells"] if cell["ours"] is None] == ["cancelled"]
    with experiments.store.begin() as tx:
        tx.experiments.resume(experiment_id)
    experiments.run_to_end(experiment_id)
    with experiments.store.read() as tx:
        states = tx.experiments.trainings(experiment_id)
    assert [state.status for state in states] == ["succeeded", "succeeded"]
    assert states[0].row.job_id == first.id
    with pytest.raises(WrongState), experiments.store.begin() as tx:
        tx.experiments.resume(experiment_id)


@pytest.mark.long
def test_cancelling_keeps_trainings_of_other_experiments(experiments: ExperimentWorker) -> None:
    """Trainings that another experiment needs are not cancelled with the experiment."""
    wide, narrow = experiments.add([TABLE, "figure-5"]), experiments.add([TABLE])
    advance_all(experiments.store)
    with experiments.store.begin() as tx:
        _, stopped = tx.experiments.cancel(wide)
        kept = {state.row.job_id for state in tx.experiments.trainings(narrow)}
    assert stopped
    assert kept.isdisjoint(job.id for job in stopped)
    assert experiments.run_to_end(narrow).status == "succeeded"
    assert experiments.row(wide).status == "cancelled"


@pytest.mark.long
def test_a_complete_table_is_reported_before_the_others(experiments: ExperimentWorker) -> None:
    """The report has the numbers of the table while trainings of another table run."""
    experiment_id = experiments.add([TABLE, "figure-5"])
    jobs = {job.id for job in advance_all(experiments.store)}
    with experiments.store.begin() as tx:
        planned = plan("lambdaloss-2018", [TABLE, "figure-5"], data="folder")
        of_table = {digest for cell in planned.cells if cell.table == TABLE for digest in cell.runs}
        states = tx.experiments.trainings(experiment_id)
        for state in states:
            if state.row.digest not in of_table and state.job is not None:
                state.job.kind = "later"  # no worker runs this kind
        others = {state.row.job_id for state in states if state.row.digest not in of_table}
    experiments.work()
    row = experiments.row(experiment_id)
    report = experiments.document(row)["report"]
    assert row.status == "running"
    assert others < jobs
    assert not report["complete"]
    assert [cell["missing"] for cell in report["tables"][0]["cells"]] == [None, None]


@pytest.mark.long
def test_a_dry_run_trains_five_trees_of_each_loss(experiments: ExperimentWorker) -> None:
    """The estimate has all trainings and trees of the paper's protocol, and the hours of one worker."""
    tables = ["table-4"]
    planned = plan("lambdaloss-2018", tables, "paper", "folder")
    row = experiments.run_to_end(experiments.add(tables, scale="paper", dry_run=True))
    estimate = experiments.document(row)["estimate"]
    with experiments.store.read() as tx:
        specs = [state.row.spec for state in tx.experiments.trainings(row.id)]
    assert {spec["hyperparameters"]["num_iterations"] for spec in specs} == {MEASURED_ITERATIONS}
    assert len(specs) == len(measured_runs(planned)) < len(planned.runs)
    assert (estimate["runs"], estimate["trees"]) == (len(planned.runs), planned.trees)
    assert estimate["hours"] > 0
    assert all(each["seconds_per_tree"] > 0 for each in estimate["measured"])
    assert sum(each["runs"] for each in estimate["measured"]) == len(planned.runs)
    assert row.sentence == estimate["sentence"]


@pytest.mark.slow
def test_a_dry_run_trains_five_epochs_of_each_network(experiments: ExperimentWorker) -> None:
    """Networks and trees of a loss are measured separately; epochs and trees are counted separately."""
    tables = ["figure-2"]
    planned = plan("lambdarank-2006", tables, "paper", "folder")
    row = experiments.run_to_end(
        experiments.add(tables, paper="lambdarank-2006", scale="paper", dry_run=True)
    )
    estimate = experiments.document(row)["estimate"]
    with experiments.store.read() as tx:
        specs = [state.row.spec for state in tx.experiments.trainings(row.id)]
    epochs = [spec["scorer"]["epochs"] for spec in specs if spec.get("scorer")]
    assert epochs == [MEASURED_ITERATIONS] * 4
    assert len(specs) == 6
    assert (estimate["trees"], estimate["epochs"]) == (planned.trees, planned.epochs)
    assert {each["scorer"] for each in estimate["measured"]} == {"linear", "mlp", "trees"}
    assert all((each["leaves"] is None) == (each["scorer"] != "trees") for each in estimate["measured"])
    assert all(each["failure"] is None for each in estimate["measured"])
    assert f"{planned.epochs:,} epochs" in estimate["sentence"]


@pytest.mark.slow
def test_networks_are_trained_and_times_are_measured_at_the_end(experiments: ExperimentWorker) -> None:
    """A table of linear scorers has the queries of both folds; a figure of times needs no training."""
    row = experiments.run_to_end(experiments.add(["table-1"], paper="ranking-measures-2009", folds=(1, 2)))
    (table,) = experiments.document(row)["report"]["tables"]
    filled = [cell for cell in table["cells"] if cell["missing"] != "printed only"]
    assert {cell["queries"] for cell in filled} == {2 * SIZES["test"]}
    with experiments.store.read() as tx:
        jobs = [tx.jobs.get(str(state.row.job_id)) for state in tx.experiments.trainings(row.id)]
        kinds = {tx.models.get((job.result or {})["model_id"]).kind for job in jobs}
    assert kinds == {"linear"}
    timed = experiments.run_to_end(experiments.add(["figure-1"], paper="lambdarank-2006"))
    report = experiments.document(timed)["report"]
    assert timed.status == "succeeded", timed.problem
    assert len(report["timings"]) == len(plan("lambdarank-2006", ["figure-1"]).timings)
    assert {cell["missing"] for cell in report["tables"][0]["cells"]} == {None}


def test_folds_are_averaged_at_their_common_iterations() -> None:
    """A fold whose trees find no further split is measured last at an iteration that other folds lack."""

    def fold(iterations: list[int], values: list[float]) -> RunResult:
        times = {"tree": [float(iteration) for iteration in iterations]}
        curves = {"validation": {"ndcg@5": values}}
        return RunResult(curves=curves, iterations=iterations, milliseconds=times, best_iteration=5)

    merged = merge_folds([fold([5, 7], [0.5, 0.6]), fold([5, 10, 15], [0.25, 0.4, 0.2])])
    assert merged.iterations == [5]
    assert merged.curves == {"validation": {"ndcg@5": [0.375]}}
    assert merged.milliseconds == {"tree": [5.0]}


def test_a_corpus_is_recognised_by_the_counts_of_its_parts() -> None:
    """The printed hyperparameters apply to all folds, and the printed numbers only to the first fold."""
    first = recognise(
        {
            "train": Counts(18_919, 2_270_296, 136, 4.0),
            "validation": Counts(6_306, 747_218, 136, 4.0),
            "test": Counts(6_306, 753_611, 136, 4.0),
        }
    )
    fifth, other = replace(first, fold=5), recognise({"test": Counts(7, 70, 136, 4.0)})
    assert corpus_of("lambdaloss-2018", {1: first, 5: fifth}) == "MSLR-WEB30K"
    assert corpus_of("ranking-measures-2009", {1: first}) is None
    assert corpus_of("lambdaloss-2018", {1: first, 2: other}) is None
    assert corpus_of("lambdaloss-2018", {}) is None
    experiment = Experiment(corpus="MSLR-WEB30K")
    assert corpus_notes(experiment, {1: first}) == [first.sentence]
    assert "for orientation only" in corpus_notes(experiment, {1: first, 5: fifth})[-1]


def test_the_active_trainings_of_an_experiment_are_limited(experiments: ExperimentWorker) -> None:
    """No further training is queued while `MAX_ACTIVE_TRAININGS` are active; waiting takes few statements."""
    experiment_id = experiments.add(tables=["table-5"], paper="lambda-ex-2023")
    assert len(advance_all(experiments.store)) == MAX_ACTIVE_TRAININGS
    statements: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(statement)

    event.listen(experiments.store._engine, "before_cursor_execute", note)
    assert advance_all(experiments.store) == []
    of_trainings = [each for each in statements if "FROM experiment_trainings" in each]
    assert len(of_trainings) < experiments.statuses(experiment_id).count("planned")


def test_an_experiment_without_its_datasets_fails_with_the_reason(experiments: ExperimentWorker) -> None:
    """A dataset does not exist when the trainings are planned."""
    missing = {"fold": 0, "name": "main", "part": "train", "dataset_id": "ds_none"}
    row = experiments.run_to_end(experiments.add(datasets=[missing]))
    assert row.status == "failed"
    assert "ds_none" in str(row.problem)
    with experiments.store.read() as tx:
        assert not [job for job in tx.jobs.page(None, 50).items if job.status in ACTIVE]


def test_an_unexpected_error_of_an_experiment_does_not_stop_others(experiments: ExperimentWorker) -> None:
    """The experiment fails with a problem; another experiment and the sweep go on."""
    broken = experiments.add(paper="unknown-2099")
    other = experiments.add()
    assert advance_all(experiments.store)
    assert experiments.row(broken).status == "failed"
    assert "log of the worker" in str(experiments.row(broken).problem)
    assert experiments.row(other).status == "running"
