"""Rank trainings by their validation data; find those not significantly worse than the best."""

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow.parquet as pq
from pydantic import Field

from app.evaluation.schemas import Interval
from app.http.pointers import pointers_below
from app.http.schemas import Json, ResponseModel
from app.jobs.schemas import Job
from core.evaluation import AgainstBest, against_best
from core.jobs import main_metric_of
from core.metrics import conventions, parse_metric
from core.store import Job as JobRow
from core.store import Model, Store, Transaction
from core.store.artifacts.keys import validation_key
from core.types import Float64Array


class RankedTraining(ResponseModel):
    """A training in a ranking of trainings."""

    job: Job
    model: str | None = Field(
        description="Model of the training; null until it is created", examples=["web:3"]
    )
    validation: Interval | None = Field(
        description="Metric on the validation data; null if not measured, without interval while the job runs"
    )
    test: Interval | None = Field(
        description="Metric on the test data, for a final check and not for model selection; null if not"
        " measured"
    )
    difference: float | None = Field(
        description="Mean minus the mean of the best training on the same validation queries; null for other"
        " queries or without values",
        examples=[-0.0021],
    )
    p: float | None = Field(
        description="Two-sided p-value of the paired t-test against the best training, adjusted for all"
        " pairs; null for the best training, and without `difference`",
        examples=[0.41],
    )
    tied: bool | None = Field(
        description="Whether the training is not significantly worse than the best (p >= 0.05); null if"
        " untested",
        examples=[True],
    )


class TrainingRanking(ResponseModel):
    """Trainings, the best one on the validation data first."""

    metric: str | None = Field(
        description="Metric to rank by; null if no training measured one", examples=["ndcg@10"]
    )
    higher_is_better: bool
    queries: int | None = Field(
        description="Number of validation queries of the tests; null without tests", examples=[412]
    )
    sentence: str = Field(
        description="Description of the tests",
        examples=[
            "Paired t-test against the best over 412 validation queries, adjusted for all pairs of 60"
            " trainings, at p < 0.05; fewer than six differing queries are no evidence."
            " The same queries chose the best one and its number of iterations, so its lead is optimistic."
        ],
    )
    items: list[RankedTraining] = Field(description="Trainings, best first; trainings without a value last")
    missing: list[str] = Field(description="Ids that are unknown or not of trainings", examples=[[]])


_CACHED_COLUMNS = 256  # each takes 8 bytes per validation query


def rank_trainings(store: Store, job_ids: Sequence[str], metric: str | None) -> TrainingRanking:
    """Rank trainings by the mean of a metric on their validation data.

    Args:
        job_ids: The jobs; those that are not trainings or do not exist are left out.
        metric: Metric to rank by; None for the most common main metric.

    Raises:
        InvalidInput: The metric is unknown.
    """
    with store.read() as tx:
        jobs = [job for job in tx.jobs.get_many(job_ids) if job.kind == "train"]
        models = tx.models.get_many((job.result or {}).get("model_id", "") for job in jobs)
        test_summaries = _test_summaries(tx, jobs)
        responses = {job.id: job for job in Job.all_of(tx, jobs)}
    missing = [job_id for job_id in job_ids if job_id not in responses]
    metric = metric or _main_metric(jobs)
    with pointers_below("/metric"):
        higher_is_better = parse_metric(metric).higher_is_better if metric else True
    trainings = [_Training(job, models.get((job.result or {}).get("model_id", "")), metric) for job in jobs]
    trainings.sort(key=lambda training: training.sort_key(higher_is_better))
    comparisons, queries = _comparisons_with_best(store, trainings, metric, higher_is_better)
    items = [
        _ranked(
            training,
            responses[training.job.id],
            test_summaries.get(training.job.id),
            comparisons.get(training.job.id),
        )
        for training in trainings
    ]
    return TrainingRanking(
        metric=metric,
        higher_is_better=higher_is_better,
        queries=queries,
        sentence=_test_description(len(comparisons), len(trainings), queries),
        items=items,
        missing=missing,
    )


class _Training:
    """A training with its mean of one metric on the validation data."""

    def __init__(self, job: JobRow, model: Model | None, metric: str | None) -> None:
        self.job, self.model, self.metric = job, model, metric
        self.mean: float | None = ((job.metrics or {}).get("validation") or {}).get(metric)

    def sort_key(self, higher_is_better: bool) -> tuple[bool, float]:
        """Return the sort key: the best mean first, trainings without a mean last."""
        return self.mean is None, (-1 if higher_is_better else 1) * (self.mean or 0.0)

    @property
    def interval(self) -> Interval | None:
        """The mean, with its interval if it was stored; None without a mean."""
        if self.mean is None:
            return None
        stored = ((self.model.validation if self.model else None) or {}).get("metrics") or {}
        values = stored.get(self.metric) or {"mean": self.mean, "lower": None, "upper": None}
        return Interval.model_validate(values)

    def comparable_by(self) -> tuple[object, ...] | None:
        """Return the key that comparable trainings share: queries and conventions; None without values."""
        stored = self.model and self.model.validation
        if self.model is None or not stored or self.metric not in stored["metrics"]:
            return None
        datasets = (self.model.lineage or {}).get("datasets") or {}
        dataset = datasets.get("validation") or datasets.get("train") or {}
        measured_by = conventions(self.job.spec.get("contract")), str(self.job.spec.get("label_map") or {})
        return dataset.get("digest") or dataset.get("id"), stored["query_ids_sha256"], *measured_by


def _comparisons_with_best(
    store: Store, trainings: Sequence[_Training], metric: str | None, higher_is_better: bool
) -> tuple[dict[str, AgainstBest], int | None]:
    """Return tests against the best training by job id, and the number of compared queries.

    Only trainings with the same validation queries as the best one are tested.

    Args:
        trainings: Trainings, the best one first.
        higher_is_better: Whether larger values of the metric are better.
    """
    measured = [training for training in trainings if training.mean is not None]
    key = measured[0].comparable_by() if measured else None
    if metric is None or key is None:
        return {}, None
    values = {
        training.job.id: _query_values(store, training.model.id, metric)
        for training in measured
        if training.model is not None and training.comparable_by() == key
    }
    values = {job_id: each for job_id, each in values.items() if not np.isnan(each).all()}
    if len(values) < 2:
        return {}, None
    comparisons = against_best(list(values.values()), higher_is_better=higher_is_better)
    n_queries = int(np.count_nonzero(~np.isnan(next(iter(values.values())))))
    return dict(zip(values, comparisons, strict=True)), n_queries


@functools.lru_cache(_CACHED_COLUMNS)
def _query_values(store: Store, model_id: str, metric: str) -> Float64Array:
    with store.verified.open(validation_key(model_id)) as file:
        column = pq.read_table(file, columns=[metric]).column(metric)
    values: Float64Array = column.to_numpy().astype(np.float64)
    return values


def _ranked(
    training: _Training, response: Job, test_summary: Json | None, against: AgainstBest | None
) -> RankedTraining:
    summary = (test_summary or {}).get(training.metric or "")
    return RankedTraining(
        job=response,
        model=training.model.reference if training.model else None,
        validation=training.interval,
        test=None if summary is None else Interval.model_validate(summary, from_attributes=False),
        difference=against.difference if against else None,
        p=against.p if against else None,
        tied=against.tied if against else None,
    )


def _test_description(tested: int, trainings: int, queries: int | None) -> str:
    if queries is None:
        return "No test was possible: no two trainings have values per query on the same validation data."
    left = trainings - tested
    rest = " could not be tested: still running, of an earlier release, or on other queries."
    return (
        f"Paired t-test against the best over {queries:,} validation queries, adjusted for all pairs of"
        f" {tested:,} trainings, at p < 0.05; fewer than six differing queries are no evidence."
        " The same queries chose the best one and its number of iterations, so its lead is optimistic."
    ) + (f" {left:,}{rest}" if left else "")


def _main_metric(jobs: Iterable[JobRow]) -> str | None:
    names = Counter(
        main.name
        for job in jobs
        if (main := main_metric_of(job.kind, job.spec, job.metrics)) and main.data == "validation"
    )
    return names.most_common(1)[0][0] if names else None


def _test_summaries(tx: Transaction, jobs: Iterable[JobRow]) -> Mapping[str, Json]:
    evaluations = {
        job.id: evaluation_id for job in jobs if (evaluation_id := (job.result or {}).get("evaluation_id"))
    }
    summaries = tx.evaluations.summaries_of(list(evaluations.values()))
    return {job_id: summaries.get(evaluation_id, {}) for job_id, evaluation_id in evaluations.items()}
