"""Run automatic trainings, and the helper jobs that try candidates for them in parallel."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from core.autotrain import Tried
from core.autotrain.conclusion import DEFAULT_TREES, Conclusion, conclude, untrained_baselines
from core.autotrain.held_out import QueryQuality
from core.autotrain.search import Selected, select
from core.data import RankingDataset
from core.errors import NotFound
from core.jobs import JobStatus, System, parse
from core.jobs.auto_train import AutoTrainJob, TryCandidatesJob
from core.jobs.folders import candidates_folder
from core.scorers import ScoringModel, Sum, read_model
from core.scorers.explainability import explainability_of
from core.store import new_id
from core.store.artifacts.keys import candidate_key, model_key
from core.types import Float64Array
from worker.job.candidates import CandidateTrials, load_training
from worker.job.lineage import lineage_of, names_in_file
from worker.job.reporter import Values
from worker.job.results import StoredEvaluation, StoredRanking, store_evaluation, store_ranking
from worker.job.run import JobRun
from worker.job.systems import ScoredDataset, scores_of
from worker.job.training_data import TrainingData


def run_candidates(run: JobRun, job: TryCandidatesJob) -> None:
    """Try candidates of an automatic training until none can be claimed."""
    with run.store.read() as tx:
        parent = tx.jobs.get(job.auto_train_id)
    if parent.status in (JobStatus.QUEUED, JobStatus.RUNNING):
        automatic = parse(parent.kind, parent.spec)
        if not isinstance(automatic, AutoTrainJob):
            raise TypeError(f"{parent.id} is not an automatic training")
        _, data = load_training(run, automatic)
        CandidateTrials(run, parent.id, automatic, data).try_available()
    with run.succeeding({"auto_train_id": job.auto_train_id}):
        pass


def run_auto_train(run: JobRun, job: AutoTrainJob) -> None:
    """Try the candidates, fit the best model or sum, and store and evaluate it.

    Raises:
        InvalidInput: The metric does not fit the labels, or no candidate was complete within the budget.
        FeaturesAbsent: The test data lacks most features, and the job does not allow that.
        DatasetError: A dataset has no features.
    """
    run.artifacts.delete_on_end(candidates_folder(run.id))
    loaded, data = load_training(run, job)
    run.reporter.report(findings=loaded.findings(run.threads))
    candidates = CandidateTrials(run, run.id, job, data)
    candidates.plan()
    started_at = time.monotonic()
    tried, refusals = candidates.try_all()
    searched_at = time.monotonic()
    run.reporter.phase("selecting")
    selected = select(candidates.trials, tried, refusals)
    conclusion = selected.conclusion(candidates.trials, run.threads)
    selected_at = time.monotonic()
    fitted = [_fit_member(run, candidates, each) for each, _ in selected.members]
    candidates.report_fitted()
    seconds = {
        "trials": searched_at - started_at,
        "selection": selected_at - searched_at,
        "final trainings": time.monotonic() - selected_at,
    }
    run.other_processors.update(candidates.processors())
    _store(run, job, _SearchResult(candidates, data, selected, fitted, conclusion, seconds))


@dataclass(frozen=True)
class _SearchResult:
    """Candidates, the selected members with their files, and the seconds of each step."""

    candidates: CandidateTrials
    data: TrainingData
    selected: Selected
    fitted: Sequence[bytes]
    conclusion: Conclusion
    seconds: dict[str, float]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.data.training.dataset.feature_names)


def _fit_member(run: JobRun, candidates: CandidateTrials, tried: Tried) -> bytes:
    """Return the file of a member, fitted by this attempt or an earlier one."""
    run.reporter.phase(f"fitting {tried.candidate.name}")
    key = candidate_key(run.id, f"{candidates.portfolio.index(tried.candidate)}.model")
    try:
        return run.store.artifacts.read_bytes(key)
    except NotFound:
        content = candidates.trials.fitted(tried)
        with run.store.artifacts.writing(key) as file:
            file.write(content)
        return content


def _store(run: JobRun, job: AutoTrainJob, search: _SearchResult) -> None:
    run.reporter.phase("storing")
    content = search.selected.content(search.fitted, search.feature_names)
    model, model_id = read_model(content), new_id("mdl_")
    with run.artifacts.writing(model_key(model_id)) as file:
        file.write(content)
    tested = _test(run, job, search, model) if search.data.test is not None else None
    conclusion = (tested and tested.conclusion) or search.conclusion
    metrics = {"held-out": {job.metric: search.conclusion.value}}
    run.reporter.report(metrics=metrics | ({"test": tested.evaluation.means} if tested else {}))
    result: Values = {
        "model_id": model_id,
        "conclusion": asdict(conclusion)
        | {
            "held_out": asdict(search.conclusion),
            "members": [
                {"name": tried.candidate.name, "weight": weight} for tried, weight in search.selected.members
            ],
            "seconds": {part: round(seconds, 3) for part, seconds in search.seconds.items()},
        },
    } | (tested.ids if tested else {})
    members = search.selected.members
    ties = dict(
        zip(
            (each.candidate.name for each in search.selected.complete),
            search.selected.selection.tied_with_best(),
            strict=True,
        )
    )
    weights = {tried.candidate.name: weight for tried, weight in members}
    sizes = {tried.candidate.name: len(file) for (tried, _), file in zip(members, search.fitted, strict=True)}
    with run.succeeding(result) as tx:
        row = tx.models.add(
            model_id,
            name=job.model_name,
            job_id=run.id,
            dataset_id=job.dataset_id,
            feature_names=search.feature_names,
            loss=None,
            hyperparameters={},
            scorer=_scorer(search.selected, model),
            best_iteration=max(tried.iterations for tried, _ in members),
            sha256=hashlib.sha256(content).hexdigest(),
            size_bytes=len(content),
            metrics=tested.evaluation.means if tested else None,
            findings=tested.evaluation.columns["findings"] if tested else None,
            lineage=lineage_of(tx, run, job)
            | {"names_in_file": names_in_file(search.feature_names, model.feature_names)},
            explanation=asdict(explainability_of(model)),
            tags=dict(job.tags) or None,
            validation=None,
        )
        for candidate in tx.candidates.of(run.id):
            name = candidate.name
            tx.candidates.change(
                run.id,
                candidate.number,
                weight=weights.get(name, 0.0),
                size_bytes=sizes.get(name),
                tied_with_best=ties.get(name),
            )
        if tested:
            system = System(row.reference, model_id)
            tested.evaluation.add(tx, run.id, system, tested.dataset_id)
            tested.ranking.add(tx, run.id, system, tested.dataset_id)


def _scorer(selected: Selected, model: ScoringModel) -> Values | None:
    """Return the stored description of a scorer, None for trees."""
    if isinstance(model, Sum):
        return model.description()
    ((tried, _),) = selected.members
    return None if tried.candidate.scorer is None else dict(tried.candidate.scorer)


@dataclass(frozen=True)
class _TestResult:
    """Comparison, evaluation and ranking on the test data.

    Attributes:
        conclusion: The comparison, None if the metric is undefined on every test query.
    """

    dataset_id: str
    conclusion: Conclusion | None
    evaluation: StoredEvaluation
    ranking: StoredRanking

    @property
    def ids(self) -> dict[str, str]:
        return {"evaluation_id": self.evaluation.id, "ranking_id": self.ranking.id}


def _test(run: JobRun, job: AutoTrainJob, search: _SearchResult, model: ScoringModel) -> _TestResult | None:
    """Evaluate the model on the test data, and compare it with untrained baselines and default trees."""
    if search.data.test is None or job.test_dataset_id is None:
        return None
    test: RankingDataset = search.data.test.dataset
    quality = QueryQuality(test, job.metric, job.measures.contract, job.measures.seed)
    scores = scores_of(model, "the model", test, run.threads)
    values = quality.values(scores[None])
    conclusion = None if np.isnan(values).all() else _conclude_test(run, job, search, quality, values)
    ranked = ScoredDataset(test, judgments=test, scores=scores)
    evaluation = store_evaluation(run, job.measures, ranked, job.model_name)
    return _TestResult(job.test_dataset_id, conclusion, evaluation, store_ranking(run, ranked))


def _conclude_test(
    run: JobRun, job: AutoTrainJob, search: _SearchResult, quality: QueryQuality, values: Float64Array
) -> Conclusion:
    others = untrained_baselines(quality, job.measures.seed)
    for each in search.selected.complete:
        if each.candidate.name == DEFAULT_TREES and search.selected.name != DEFAULT_TREES:
            default = read_model(_fit_member(run, search.candidates, each))
            scored = scores_of(default, DEFAULT_TREES, quality.dataset, run.threads)
            others.insert(0, (DEFAULT_TREES, quality.values(scored[None])))
    return conclude(
        search.selected.name,
        job.metric,
        values,
        others,
        quality,
        "test",
        seed=job.measures.seed,
        threads=run.threads,
    )
