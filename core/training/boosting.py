"""The boosting loop: LightGBM grows the trees, a prepared loss says where they should go."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import lightgbm
import numpy as np

from core.data import RankingDataset
from core.diagnostics import diagnose
from core.errors import InvalidInput
from core.jit import use_threads
from core.losses import DocumentWeightedLoss, Loss, Objective
from core.metrics import ideal_labels, parse_metric, rank_labels
from core.training.binning import Binning, KeptBins
from core.training.spec import TrainingSpec
from core.types import Float32Array, Float64Array

Values = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class IterationReport:
    """What is known after an iteration.

    Attributes:
        iteration: 1-based number of the iteration.
        total: Iterations asked for.
        values: Mean metrics, by dataset ("train", "validation") and spelling, None where undefined; with
            "loss", the mean loss of the training queries. Nothing where the iteration is not measured.
            "diagnostics" hold what the papers say of the gradient that the iteration's tree follows.
        best_iteration: Best iteration so far on validation, the present one without validation data.
    """

    iteration: int
    total: int
    values: Values
    best_iteration: int


@dataclass(frozen=True)
class TrainedRanker:
    """A trained model.

    Attributes:
        model_text: LightGBM's text form, cut at the best iteration.
        best_iteration: Number of trees kept.
        feature_names: Names of the features in column order.
        history: One report an iteration.
    """

    model_text: str
    best_iteration: int
    feature_names: tuple[str, ...]
    history: list[IterationReport] = field(repr=False)


def train(
    spec: TrainingSpec,
    train_dataset: RankingDataset,
    validation_dataset: RankingDataset | None = None,
    on_iteration: Callable[[IterationReport], None] | None = None,
    threads: int = 1,
    kept_bins: KeptBins | None = None,
) -> TrainedRanker:
    """Train a ranker.

    The same specification and data give the same model text, byte for byte, on any number of threads.

    Args:
        spec: What to do.
        train_dataset: Data to learn from.
        validation_dataset: Data that picks the best iteration; all iterations are kept without it.
        on_iteration: Called after each iteration; whatever it raises ends the training.
        threads: Threads for LightGBM and the loss.
        kept_bins: Binned features of earlier trainings, and the place for those of this one. The model is the
            same with and without.

    Raises:
        InvalidInput: When early stopping has no validation data, the datasets' features differ, or LightGBM
            refuses the data, as where no feature varies.
    """
    _check_fit(spec, train_dataset, validation_dataset)
    use_threads(threads)
    try:
        return _boost(spec, train_dataset, validation_dataset, on_iteration, threads, kept_bins)
    except lightgbm.basic.LightGBMError as error:
        raise InvalidInput.at("/dataset_id", _refusal(str(error))) from error


def _boost(
    spec: TrainingSpec,
    train_dataset: RankingDataset,
    validation_dataset: RankingDataset | None,
    on_iteration: Callable[[IterationReport], None] | None,
    threads: int,
    kept_bins: KeptBins | None,
) -> TrainedRanker:
    objective = _prepare(spec.loss, train_dataset)
    booster, measures = _start(spec, train_dataset, validation_dataset, objective, threads, kept_bins)
    history: list[IterationReport] = []
    best_iteration, best_value = 0, -np.inf
    prefers_higher = parse_metric(spec.selection_metric).higher_is_better
    total = spec.hyperparameters.num_iterations
    for iteration in range(1, total + 1):
        gradients = _Gradients(objective, iteration - 1, spec, train_dataset)
        finished = booster.update(fobj=gradients)
        if finished and iteration > 1:
            break  # no split gains anything any more: LightGBM has added no tree
        measured = iteration % spec.metric_interval == 0 or iteration == total
        values: dict[str, Mapping[str, float | None]] = (
            {name: measure(booster) for name, measure in measures.items()} if measured else {}
        )
        if gradients.diagnosed is not None:
            values["diagnostics"] = gradients.diagnosed
        selected = values["validation"][spec.selection_metric] if "validation" in values else None
        if selected is not None and not prefers_higher:
            selected = -selected
        if validation_dataset is None:
            best_iteration = iteration
        elif selected is not None and selected > best_value:
            best_iteration, best_value = iteration, selected
        report = IterationReport(iteration, total, values, max(best_iteration, 1))
        history.append(report)
        if on_iteration is not None:
            on_iteration(report)
        if _is_stalled(spec, iteration, best_iteration):
            break
    best_iteration = best_iteration or booster.num_trees()
    text = booster.model_to_string(num_iteration=best_iteration)
    return TrainedRanker(_without_thread_count(text), best_iteration, train_dataset.feature_names, history)


def _check_fit(spec: TrainingSpec, train_dataset: RankingDataset, validation: RankingDataset | None) -> None:
    if validation is None:
        if spec.early_stopping is not None:
            raise InvalidInput.at("/early_stopping", "needs validation data")
    elif validation.n_features != train_dataset.n_features:
        raise InvalidInput.at(
            "/validation",
            f"has {validation.n_features} features, the training data {train_dataset.n_features}",
        )


def _prepare(loss: Loss, dataset: RankingDataset) -> Objective:
    judgments = (dataset.labels, dataset.query_boundaries, dataset.query_weights)
    if isinstance(loss, DocumentWeightedLoss):
        return loss.prepare(*judgments, dataset.document_weights)
    return loss.prepare(*judgments)


def _start(
    spec: TrainingSpec,
    train_dataset: RankingDataset,
    validation: RankingDataset | None,
    objective: Objective,
    threads: int,
    kept_bins: KeptBins | None,
) -> tuple[lightgbm.Booster, dict[str, "_Measure"]]:
    parameters = spec.hyperparameters.lightgbm(spec.seed, threads)
    binning = Binning(spec.hyperparameters, parameters, kept_bins)
    data = binning.training(train_dataset)
    booster = lightgbm.Booster(parameters, data)
    measures = {"train": _Measure(spec, train_dataset, objective)}
    if validation is not None:
        booster.add_valid(binning.validation(validation, data), "validation")
        measures["validation"] = _Measure(spec, validation)
    return booster, measures


class _Gradients:
    """An objective at one iteration, in the form LightGBM calls.

    Attributes:
        diagnosed: What the papers say of the gradient; None where it was not to be looked at.
    """

    def __init__(
        self, objective: Objective, iteration: int, spec: TrainingSpec, dataset: RankingDataset
    ) -> None:
        self.diagnosed: Mapping[str, float | None] | None = None
        self._objective = objective
        self._iteration = iteration
        self._spec = spec
        self._dataset = dataset

    def __call__(self, scores: Float64Array, _: lightgbm.Dataset) -> tuple[Float32Array, Float32Array]:
        gradient, hessian = self._objective(scores, self._iteration)
        plan = self._spec.diagnostics
        is_last = self._iteration + 1 == self._spec.hyperparameters.num_iterations
        if plan is not None and (self._iteration % plan.interval == 0 or is_last):
            self.diagnosed = diagnose(
                self._spec.loss,
                scores,
                self._dataset.labels,
                self._dataset.query_boundaries,
                cutoff=plan.cutoff,
                iteration=self._iteration,
                seed=self._spec.seed,
                gradient=gradient,
            )
        return gradient, hessian


class _Measure:
    """Mean metrics of a booster's present scores on one dataset; with the objective, also the mean loss."""

    def __init__(
        self, spec: TrainingSpec, dataset: RankingDataset, objective: Objective | None = None
    ) -> None:
        self._ties = spec.conventions.ties
        self._metrics = {name: parse_metric(name, spec.conventions) for name in spec.followed_metrics}
        self._dataset = dataset
        self._objective = objective
        self._iteration = 0
        self._by_label = ideal_labels(dataset.labels, dataset.query_boundaries)
        self._values: dict[str, float | None] = {}

    def __call__(self, booster: lightgbm.Booster) -> dict[str, float | None]:
        self._iteration = booster.current_iteration()
        # The evaluation hook is LightGBM's only public way to the live scores of a dataset.
        if self._objective is not None:
            booster.eval_train(self._read)
        else:
            booster.eval_valid(self._read)
        return self._values

    def _read(self, scores: Float64Array, _: lightgbm.Dataset) -> list[tuple[str, float, bool]]:
        dataset = self._dataset
        ranked = rank_labels(
            scores,
            dataset.labels,
            dataset.query_boundaries,
            self._by_label,
            ties=self._ties,
            document_ids=dataset.document_ids,
        )
        self._values = {}
        if self._objective is not None:
            self._values["loss"] = float(self._objective.terms(scores, self._iteration).value.mean())
        for spelling, metric in self._metrics.items():
            values = metric.of_ranked(ranked)
            defined = values[~np.isnan(values)]
            self._values[spelling] = float(defined.mean()) if defined.size else None
        return []


def _is_stalled(spec: TrainingSpec, iteration: int, best_iteration: int) -> bool:
    return spec.early_stopping is not None and iteration - best_iteration >= spec.early_stopping.rounds


def _without_thread_count(model_text: str) -> str:
    """Drop the one line of the model text that depends on the machine and not on the model."""
    return re.sub(r"\[num_threads: \d+\]", "[num_threads: 0]", model_text)


def _refusal(message: str) -> str:
    if "num_features()" in message:
        return "no feature of the training data varies, so there is nothing to split on"
    # LightGBM ends its messages with the place in its own sources.
    return f"LightGBM refuses the training data: {message.split(' at /')[0].strip()}"
