"""Compare a model corrected for the position bias of clicks with the naive model."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from core.clicks.correction import Clipping
from core.clicks.counterfactual import HeldOutClicks, rank_weights
from core.data import RankingDataset
from core.doctor.report import Finding
from core.evaluation import measure
from core.evaluation.paired import SIGNIFICANCE, format_p, p_of_differences
from core.jobs.base_training import BaseTrainingJob
from core.metrics import Metric, parse_metric
from core.names import counted, query_count
from core.scorers import ScoringModel, read_model
from core.training import TrainedModel, TrainingSpec, train
from core.training.models import IterationReport
from core.types import Float64Array
from worker.job.run import JobRun
from worker.job.systems import scores_of
from worker.job.training_data import TrainingData, is_other_dataset

_DEFAULT_CUTOFF = 10  # cutoff of an estimate if the metric has none


@dataclass(frozen=True)
class NaiveComparison:
    """Comparison of a corrected model with a naive model, trained on the same clicks without correction.

    Attributes:
        metric: Name of the metric, such as `ndcg@10`.
        data: `test` or `validation`, or None without either.
        by_clicks: Whether the labels of `data` are clicks, held out from the training clicks.
        estimated: Whether the metric is estimated from held-out clicks by the propensities of their ranks.
        missing: Reason why the clicks do not suffice for an estimate, or None.
        corrected: Mean of the corrected model over queries, or over lists of clicks; None if undefined.
        naive: Mean of the naive model, None if undefined.
        p_value: p-value of the paired t-test, None for fewer than two queries or lists.
        queries: Number of queries, or of lists of clicks, on which the metric is defined.
    """

    metric: str
    data: str | None
    by_clicks: bool = False
    estimated: bool = False
    missing: str | None = None
    corrected: float | None = None
    naive: float | None = None
    p_value: float | None = None
    queries: int = 0

    @property
    def gain(self) -> float:
        """Return the improvement by the corrected model, negative if it is worse."""
        if self.corrected is None or self.naive is None:
            return 0.0
        difference = self.corrected - self.naive
        return difference if parse_metric(self.metric).higher_is_better else -difference

    @property
    def sentence(self) -> str:
        """Return the conclusion."""
        if self.data is None:
            return "There is no test or validation data to compare the corrected model with the naive one."
        if self.corrected is None or self.naive is None:
            return (
                f"{self.metric} is undefined on the {self.data} data, so that the models cannot be compared."
            )
        if self.missing is not None:
            return (
                f"No verdict on the correction from held-out clicks: {self.missing}. Compare the models on"
                " judgments."
            )
        p = "" if self.p_value is None else f", {format_p(self.p_value)}"
        verdict = "wins" if self.gain > 0 else "loses"
        conclusion = f"The correction {verdict}" if self._is_significant else "No difference is shown"
        basis = "by propensities from held-out clicks" if self.estimated else f"on the {self.data} data"
        text = (
            f"{conclusion}: {self.metric} {basis} is {self.corrected:.4f} corrected and"
            f" {self.naive:.4f} naive ({self._units}{p})."
        )
        if self.estimated:
            text += " It is valid only if the propensities are; the lists of one user count as independent."
        elif self.by_clicks:
            text += " These data are clicks with the same position bias: compare the models on judgments."
        return text

    @property
    def _unit(self) -> str:
        return "lists" if self.by_clicks else "queries"

    @property
    def _units(self) -> str:
        return counted(self.queries, "list") if self.by_clicks else query_count(self.queries)

    @property
    def _is_significant(self) -> bool:
        return self.missing is None and self.p_value is not None and self.p_value < SIGNIFICANCE

    def finding(self) -> Finding:
        """Return the comparison as a finding, a warning unless the correction is significantly better.

        A comparison on labels that are clicks is always a warning, unless it is an estimate.
        """
        wins = self.gain > 0 and self._is_significant
        return Finding(
            code="click-correction",
            severity="info" if wins and (self.estimated or not self.by_clicks) else "warning",
            title=self.sentence,
            advice='Train with "correction": "none", unless judgments or an online experiment show that the'
            " correction helps."
            if not wins
            else "The naive model was trained on the same clicks for this comparison, and was not stored.",
            count=self.queries,
            total=self.queries,
            unit=self._unit,
        )


def compare_with_naive(
    run: JobRun,
    job: BaseTrainingJob,
    data: TrainingData,
    model: ScoringModel,
    iterations: int | None = None,
) -> tuple[NaiveComparison, list[Finding]]:
    """Train the naive model and compare it with the corrected model; return findings on weights, too.

    Args:
        data: Datasets, with the features of the training data.
        iterations: Iterations of the corrected model, where folds determined them.
    """
    spec = job.training
    findings = []
    if spec.clicks is not None and spec.clicks.correction in ("ips", "affine"):
        findings.append(_clipping_finding(Clipping.of(spec.clicks, data.training.dataset)))
    role, held_out = ("test", data.test) if data.test is not None else ("validation", data.validation)
    if held_out is None:
        comparison = NaiveComparison(spec.selection_metric, None)
    else:
        run.reporter.phase("training the naive model")
        uncorrected = replace(spec, clicks=None)
        if iterations is not None:
            uncorrected = replace(uncorrected.with_iterations(iterations), early_stopping=None)
        validation = None if data.validation is None else data.validation.dataset
        selecting = validation if spec.selects_by(validation) else None
        naive = read_model(_train_naive(run, uncorrected, data, selecting).content)
        compare = _compare_by_labels if is_other_dataset(job, role) else _compare_by_clicks
        comparison = compare(run, spec, role, held_out.dataset, (model, naive))
    return comparison, [*findings, comparison.finding()]


def comparison_json(comparison: NaiveComparison) -> dict[str, Any]:
    """Return a comparison as an entry of a job's result."""
    return {**asdict(comparison), "sentence": comparison.sentence}


def _train_naive(
    run: JobRun, spec: TrainingSpec, data: TrainingData, validation: RankingDataset | None
) -> TrainedModel:
    def on_iteration(_report: IterationReport, _snapshot: Any) -> None:
        run.lease.check()

    if spec.scorer.is_network:
        from core.training.networks import train_network

        return train_network(
            spec, data.training.dataset, validation, on_iteration, run.threads, check=run.lease.check
        )
    trees = train(
        spec,
        data.training.dataset,
        validation,
        on_iteration=on_iteration,
        threads=run.threads,
        cached_bins=data.cached_bins(run.caches.binned),
        resume=data.start(run.threads),
    )
    return data.with_base(trees)


def _compare_by_labels(
    run: JobRun,
    spec: TrainingSpec,
    role: str,
    dataset: RankingDataset,
    models: tuple[ScoringModel, ScoringModel],
) -> NaiveComparison:
    metric = spec.selection_metric
    corrected, naive = (
        measure(scores_of(model, "the model", dataset, run.threads), dataset, [metric], spec.conventions)[
            metric
        ]
        for model in models
    )
    return _with_test(NaiveComparison(metric, role), corrected, naive, parse_metric(metric, spec.conventions))


def _compare_by_clicks(
    run: JobRun,
    spec: TrainingSpec,
    role: str,
    dataset: RankingDataset,
    models: tuple[ScoringModel, ScoringModel],
) -> NaiveComparison:
    """Compare by the metric on clicks, or by an estimate of DCG for the correction `ips`."""
    clicks = spec.clicks
    if clicks is None or clicks.correction != "ips":
        return replace(_compare_by_labels(run, spec, role, dataset, models), by_clicks=True)
    metric = f"dcg@{parse_metric(spec.selection_metric, spec.conventions).cutoff or _DEFAULT_CUTOFF}"
    held_out = HeldOutClicks(dataset, clicks, rank_weights(metric))
    corrected, naive = (
        held_out.values(scores_of(model, "the model", dataset, run.threads)) for model in models
    )
    comparison = NaiveComparison(metric, role, by_clicks=True, estimated=True, missing=held_out.shortfall())
    return _with_test(comparison, corrected, naive, parse_metric(metric))


def _with_test(
    comparison: NaiveComparison, corrected: Float64Array, naive: Float64Array, metric: Metric
) -> NaiveComparison:
    """Return the comparison with the means and the p-value of (n_queries,) values, NaN where undefined."""
    defined = ~(np.isnan(corrected) | np.isnan(naive))
    differences = (corrected - naive)[defined]
    count, p_value = int(defined.sum()), None
    if count > 1:
        p_value = p_of_differences(differences)
    return replace(
        comparison,
        corrected=metric.mean(corrected),
        naive=metric.mean(naive),
        p_value=p_value,
        queries=count,
    )


def _clipping_finding(clipping: Clipping) -> Finding:
    return Finding(
        code="click-weights",
        severity="warning" if clipping.clipped else "info",
        title=clipping.summary,
        advice="A lower clip removes more bias and adds variance.",
        count=clipping.clipped,
        total=clipping.clicks,
        unit="documents",
    )
