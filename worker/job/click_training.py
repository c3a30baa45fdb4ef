"""The naive model beside one that is corrected for the ranks of clicks."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from core.clicks.correction import Clipping
from core.data import RankingDataset
from core.doctor.report import Finding
from core.evaluation import measure
from core.evaluation.paired import SIGNIFICANCE, format_p, t_test_p
from core.jobs.boosting import BoostingJob, HeldOutDataset
from core.metrics import parse_metric
from core.scorers import ScoringModel, read_model
from core.training import TrainedModel, TrainingSpec, train
from core.training.models import IterationReport
from worker.job.run import JobRun
from worker.job.systems import scores_of
from worker.job.training_data import TrainingData


@dataclass(frozen=True)
class NaiveComparison:
    """A corrected model beside the naive one, which is trained on the same clicks as they are.

    Attributes:
        metric: Spelling of the metric.
        data: `test` or `validation`, or None where there are neither.
        by_clicks: Whether its labels are clicks of the same log.
        corrected: Mean of the corrected model, None where it is undefined.
        naive: Mean of the naive model.
        p_value: Of the paired t-test over queries, None of fewer than two.
        queries: Queries on which the metric is defined.
    """

    metric: str
    data: str | None
    by_clicks: bool = False
    corrected: float | None = None
    naive: float | None = None
    p_value: float | None = None
    queries: int = 0

    @property
    def gain(self) -> float:
        """Return by how much the corrected model is better, below 0 where it is worse."""
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
                f"{self.metric} is undefined on the {self.data} data, so that no model is shown to be better."
            )
        shown = self.p_value is not None and self.p_value < SIGNIFICANCE
        p = "" if self.p_value is None else f", {format_p(self.p_value)}"
        verdict = "wins" if self.gain > 0 else "loses"
        conclusion = f"The correction {verdict}" if shown else "No difference is shown"
        text = (
            f"{conclusion}: {self.metric} on the {self.data} data is {self.corrected:.4f} corrected and"
            f" {self.naive:.4f} naive ({self.queries:,} queries{p})."
        )
        if self.by_clicks:
            text += " These data are clicks with the same bias: compare on judgments."
        return text

    def finding(self) -> Finding:
        """Return the comparison as a finding, a warning unless the correction is shown to win."""
        wins = self.gain > 0 and self.p_value is not None and self.p_value < SIGNIFICANCE
        return Finding(
            code="click-correction",
            severity="info" if wins and not self.by_clicks else "warning",
            title=self.sentence,
            advice='Serve the naive model, with "correction": "none", unless judgments or an experiment'
            " with users show that the correction helps."
            if not wins
            else "The naive model was trained on the same clicks for comparison, and is not kept.",
            count=self.queries,
            total=self.queries,
            unit="queries",
        )


def compare_with_naive(
    run: JobRun, job: BoostingJob, data: TrainingData, model: ScoringModel
) -> tuple[NaiveComparison, list[Finding]]:
    """Train the naive model, and compare the corrected model with it; with findings on the weights."""
    spec = job.training
    assert spec.clicks is not None  # noqa: S101 - asked by the caller
    findings = []
    if spec.clicks.correction in ("ips", "affine"):
        findings.append(_clipping_finding(Clipping.of(spec.clicks, data.training.dataset)))
    held = ("test", data.test) if data.test is not None else ("validation", data.validation)
    if held[1] is None:
        comparison = NaiveComparison(spec.selection_metric, None)
    else:
        run.reporter.phase("training the naive model")
        naive = read_model(_naive(run, replace(spec, clicks=None), data).content)
        by_clicks = spec.clicks.log is not None and not _is_judged(job, held[0])
        comparison = _compared(run, spec, held[0], held[1].dataset, (model, naive), by_clicks)
    return comparison, [*findings, comparison.finding()]


def comparison_json(comparison: NaiveComparison) -> dict[str, Any]:
    """Return a comparison as an entry of a job's result."""
    return {**asdict(comparison), "sentence": comparison.sentence}


def _is_judged(job: BoostingJob, role: str) -> bool:
    return job.test is None if role == "test" else isinstance(job.validation, HeldOutDataset)


def _naive(run: JobRun, spec: TrainingSpec, data: TrainingData) -> TrainedModel:
    def on_iteration(_report: IterationReport, _snapshot: Any) -> None:
        run.lease.check()

    validation = data.validation.dataset if data.validation else None
    if spec.scorer.is_network:
        from core.training.networks import train_network

        return train_network(
            spec, data.training.dataset, validation, on_iteration, run.threads, check=run.lease.check
        )
    return train(
        spec,
        data.training.dataset,
        validation,
        on_iteration=on_iteration,
        threads=run.threads,
        kept_bins=data.kept_bins(run.caches.binned),
        resume=data.start(run.threads),
    )


def _compared(
    run: JobRun,
    spec: TrainingSpec,
    role: str,
    dataset: RankingDataset,
    models: tuple[ScoringModel, ScoringModel],
    by_clicks: bool,
) -> NaiveComparison:
    metric = spec.selection_metric
    corrected, naive = (
        measure(scores_of(model, "the model", dataset, run.threads), dataset, [metric], spec.conventions)[
            metric
        ]
        for model in models
    )
    defined = ~(np.isnan(corrected) | np.isnan(naive))
    differences = (corrected - naive)[defined]
    count, parsed = int(defined.sum()), parse_metric(metric, spec.conventions)
    p_value = None
    if count > 1:
        p_value = float(t_test_p(float(differences.mean()), float(differences.std(ddof=1)), count))
    return NaiveComparison(
        metric, role, by_clicks, parsed.mean(corrected), parsed.mean(naive), p_value, count
    )


def _clipping_finding(found: Clipping) -> Finding:
    return Finding(
        code="click-weights",
        severity="warning" if found.clipped else "info",
        title=found.summary,
        advice="A lower clip removes more bias and adds variance.",
        count=found.clipped,
        total=found.clicks,
        unit="documents",
    )
