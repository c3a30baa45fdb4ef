"""The training loop of networks: epochs of batches of whole queries."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, cast

import numpy as np

from core.clicks.binding import LossBinding, ObservingObjective
from core.data import RankingDataset
from core.diagnostics import diagnose
from core.errors import InvalidInput
from core.losses import Objective
from core.ranges import use_threads
from core.scorers import InputTransform, Layer, Linear, Mlp, Network, NetworkScorer, write_network
from core.scorers.inputs import do_nothing
from core.training.history import DIAGNOSTICS, METRICS, NETWORK, OBJECTIVE, History, Stopwatch
from core.training.measure import Measure, check_fit
from core.training.models import EndTraining, IterationReport
from core.training.networks.batches import Batch, Batches, Schedule, inputs_of
from core.training.networks.checkpoint import NetworkCheckpoint, Weights
from core.training.networks.initialization import drawn_weights, gradient_factors, varying_inputs
from core.training.networks.linear import LinearDescent
from core.training.sampling import derived_seed
from core.training.spec import DiagnosticsPlan, TrainingSpec, check_numeric
from core.types import Float32Array, Float64Array, FloatArray, OnProgress

if TYPE_CHECKING:
    from core.training.networks.differentiation import Differentiation

Snapshot = Callable[[], NetworkCheckpoint]
OnEpoch = Callable[[IterationReport, Snapshot], None]
OnScores = Callable[[int, Float64Array], None]
Check = Callable[[], None]
_DROPOUT = 103  # purpose of random choices, see `core.training.networks.batches`
_NOTHING_DONE = NetworkCheckpoint([], [], [], 0, -np.inf, 0.0, (), 0, [])
_BIAS_STEP = 0.1  # learning rate of the position bias, which is updated once per epoch
_SCORED_ROWS = 4_096  # validation documents scored in one block


@dataclass(frozen=True)
class TrainedNetwork:
    """A trained linear scorer or network.

    Attributes:
        content: Model file, see `core.scorers.network_file`.
        best_iteration: Epoch of the weights.
        growth: None; only trainings of trees report their growth.
        propensities: Propensity of each rank at the end of the training, where they were learnt, else None.
    """

    content: bytes
    best_iteration: int
    feature_names: tuple[str, ...]
    history: list[IterationReport] = field(repr=False)
    growth: None = None
    propensities: tuple[float, ...] | None = None

    @property
    def kept_iterations(self) -> int:
        """Return the number of epochs that trained the weights."""
        return self.best_iteration


def train_network(
    spec: TrainingSpec,
    train_dataset: RankingDataset,
    validation_dataset: RankingDataset | None = None,
    on_iteration: OnEpoch | None = None,
    threads: int = 1,
    resume: NetworkCheckpoint | None = None,
    on_batch: OnProgress | None = None,
    check: Check = do_nothing,
    on_scores: OnScores | None = None,
) -> TrainedNetwork:
    """Train a linear scorer or a network with any loss.

    Each step computes the gradient d loss / d score of a batch, divided by its number of queries, and
    backpropagates it to the weights. The same specification and data give the same bytes on one type of
    machine and version of JAX. The number of threads, processors and interruptions does not change the bytes.

    Args:
        spec: Specification, whose scorer is a `NetworkScorer`.
        validation_dataset: Data that selects the best epoch; without it the last epoch is kept.
        on_iteration: Called after each epoch with its report and a function that takes a checkpoint; may
            raise to stop.
        threads: Threads for the loss and the metrics; the network uses XLA's threads.
        resume: A checkpoint of the same specification and data to continue from.
        on_batch: Called before each step with the number of batches done in the epoch, and their total.
        check: Called between batches and between blocks of documents; may raise `EndTraining` to end the
            training, or another exception to abandon it.
        on_scores: Called after each measured epoch with its number and the validation scores.

    Raises:
        InvalidInput: Early stopping without validation data, a categorical feature, datasets with different
            features, or weights that diverge.
    """
    if not isinstance(spec.scorer, NetworkScorer):
        raise TypeError("the scorer is not a network")
    check_numeric(train_dataset.categories)
    check_fit(spec, train_dataset, validation_dataset)
    use_threads(threads)
    training = _NetworkTraining(
        spec, spec.scorer, train_dataset, validation_dataset, resume, check, on_scores
    )
    return training.run(on_iteration, on_batch)


class _NetworkTraining:
    """The state of a network's training."""

    def __init__(
        self,
        spec: TrainingSpec,
        scorer: NetworkScorer,
        dataset: RankingDataset,
        validation: RankingDataset | None,
        resume: NetworkCheckpoint | None,
        check: Check,
        on_scores: OnScores | None,
    ) -> None:
        self._spec, self._scorer, self._dataset = spec, scorer, dataset
        self._on_scores = on_scores
        self._stopwatch = Stopwatch()
        self._check = check
        self._transform = InputTransform.fit(
            dataset.features,
            kind=scorer.inputs,
            log1p=scorer.log1p,
            missing_indicators=scorer.missing_indicators,
            on_block=check,
        )
        self._binding = LossBinding(spec.loss, dataset, spec.clicks, _BIAS_STEP)
        self._batches = Batches.of(
            dataset, self._binding, self._transform, scorer.batch_size(dataset.n_documents), spec.seed, check
        )
        self._validation = (
            None if validation is None else inputs_of(validation.features, self._transform, on_block=check)
        )
        self._measures = {"train": Measure(spec, dataset)}
        if validation is not None:
            self._measures["validation"] = Measure(spec, validation)
        self._varies = varying_inputs(self._batches.inputs)
        start = resume or replace(_NOTHING_DONE, learning_rate=scorer.learning_rate)
        self._schedule = Schedule(scorer, start.learning_rate, start.costs, start.restarts)
        selects = spec.selects_by(validation)
        self._history = History(spec, start, validates=selects)
        self._best_weights = start.best_weights if selects else _NOTHING_DONE.best_weights
        drawn = self._drawn_weights()
        factors = gradient_factors(drawn, self._varies, is_shift_invariant=spec.loss.is_shift_invariant)
        self._network = _descent(scorer, drawn, derived_seed(spec.seed, _DROPOUT, 0), factors)
        if resume is not None and self._binding.bias is not None and resume.bias:
            self._binding.bias.restore(resume.bias)
        if resume is not None:
            self._network.restore(resume.weights, resume.optimizer)

    def run(self, on_iteration: OnEpoch | None, on_batch: OnProgress | None) -> TrainedNetwork:
        with suppress(EndTraining):
            self._run_epochs(on_iteration, on_batch)
        weights = self._best_weights or self._network.weights()
        return TrainedNetwork(
            write_network(self._as_network(weights)),
            self._history.kept_iterations,
            self._dataset.feature_names,
            self._history.reports,
            propensities=self._binding.propensities,
        )

    def _run_epochs(self, on_iteration: OnEpoch | None, on_batch: OnProgress | None) -> None:
        while not self._history.is_complete:
            epoch = len(self._history.reports) + 1
            loss = self._train_epoch(epoch, on_batch)
            report = self._report(epoch, loss)
            if self._history.is_last_selected:
                self._best_weights = self._network.weights()
            if self._schedule.record_epoch(self._cost(loss, report)) and not self._history.is_complete:
                self._network.restart(self._drawn_weights())
            if on_iteration is not None:
                on_iteration(report, self._snapshot())

    @np.errstate(over="ignore", invalid="ignore")  # scores that are not finite are refused
    def _train_epoch(self, epoch: int, on_batch: OnProgress | None) -> float:
        """Take a step on each batch; return the mean loss of the queries.

        The loss of a query is measured before the step on its batch.
        """
        total, count = 0.0, len(self._batches.batches)
        for done, batch in enumerate(self._batches.of_epoch(epoch)):
            self._check()
            if on_batch is not None:
                on_batch(done, count)
            step = (epoch - 1) * count + done
            with self._stopwatch.timing(NETWORK):
                total += self._network.step(
                    self._batches.inputs[batch.rows],
                    self._batches.padded_size(batch),
                    partial(self._loss, batch, epoch, step),
                    self._schedule.learning_rate,
                    step,
                )
        if self._binding.bias is not None:
            self._binding.bias.update()
        return total / self._dataset.n_queries

    def _loss(self, batch: Batch, epoch: int, step: int, scores: Float64Array) -> tuple[float, Float32Array]:
        """Return the sum of a batch's losses, and d mean loss / d score, (n_documents,)."""
        self._require_finite(scores, epoch)
        with self._stopwatch.timing(OBJECTIVE):
            gradient, _, losses = batch.objective.with_value(scores, step)
            if self._binding.bias is not None:
                cast("ObservingObjective", batch.objective).observe()
            return float(losses.sum()), gradient / np.float32(batch.n_queries)

    def _report(self, epoch: int, loss: float) -> IterationReport:
        values: dict[str, Mapping[str, float | None]] = {}
        diagnostics_values: Mapping[str, float | None] | None = None
        history, plan = self._history, self._history.next_diagnostics
        if history.is_measured_next or plan is not None:
            scores = self._scores(epoch)
            if history.is_measured_next:
                with self._stopwatch.timing(METRICS):
                    for name, measure in self._measures.items():
                        training_loss = {"loss": loss} if name == "train" else {}
                        values[name] = training_loss | measure(scores[name])
                if self._on_scores is not None and "validation" in scores:
                    self._on_scores(epoch, scores["validation"])
            if plan is not None:
                diagnostics_values = self._diagnose(plan, scores["train"], epoch)
        return history.add(values, self._stopwatch.lap(), diagnostics_values)

    def _scores(self, epoch: int) -> dict[str, Float64Array]:
        """Return the current scores of the documents by dataset."""
        with self._stopwatch.timing(NETWORK):
            scores = {"train": np.empty(self._dataset.n_documents)}
            for batch in self._batches.batches:
                self._check()
                inputs, size = self._batches.inputs[batch.rows], self._batches.padded_size(batch)
                scores["train"][self._batches.documents[batch.rows]] = self._network.score(inputs, size)
            if self._validation is not None:
                scores["validation"] = np.empty(len(self._validation))
                for first in range(0, len(self._validation), _SCORED_ROWS):
                    self._check()
                    rows = slice(first, first + _SCORED_ROWS)
                    scores["validation"][rows] = self._network.score(self._validation[rows], _SCORED_ROWS)
        for each in scores.values():
            self._require_finite(each, epoch)
        return scores

    def _require_finite(self, values: FloatArray, epoch: int, name: str = "scores") -> None:
        if not np.isfinite(values).all():
            raise InvalidInput.at(
                "/scorer/learning_rate",
                f"{self._schedule.learning_rate:g} is too high: {name} were not finite in epoch {epoch}."
                " Decrease it, or set gradient_clip",
            )

    def _diagnose(
        self, plan: DiagnosticsPlan, scores: Float64Array, epoch: int
    ) -> Mapping[str, float | None]:
        with self._stopwatch.timing(DIAGNOSTICS):
            gradient, _ = self._whole_objective(scores, epoch - 1)
            return diagnose(
                self._spec.loss,
                scores,
                self._dataset.labels,
                self._dataset.query_boundaries,
                cutoff=plan.cutoff,
                iteration=epoch - 1,
                seed=self._spec.seed,
                gradient=gradient,
            )

    @cached_property
    def _whole_objective(self) -> Objective:
        """Return the loss bound to all training documents, for diagnostics only."""
        return self._binding.bind_all()

    def _drawn_weights(self) -> Weights:
        return drawn_weights(self._scorer, self._varies, self._spec.seed, self._schedule.restarts)

    def _cost(self, loss: float, report: IterationReport) -> float | None:
        """Return the training cost that the schedule follows, None where the metric was not measured."""
        if self._scorer.training_cost == "loss":
            return loss
        value = report.values.get("train", {}).get(self._spec.selection_metric)
        return None if value is None else -self._history.goodness(value)

    def _snapshot(self) -> Snapshot:
        """Return a function that takes a checkpoint of this epoch, even after the next one has begun."""
        state = self._network.state()  # its arrays never change
        without_arrays = replace(
            _NOTHING_DONE,
            best_weights=self._best_weights,
            best_iteration=self._history.best_iteration,
            best_value=self._history.best_value,
            learning_rate=self._schedule.learning_rate,
            costs=tuple(self._schedule.costs),
            restarts=self._schedule.restarts,
            history=list(self._history.reports),
            bias={} if self._binding.bias is None else self._binding.bias.arrays(),
        )

        def take_checkpoint() -> NetworkCheckpoint:
            weights, optimizer = self._network.as_arrays(state)
            return replace(without_arrays, weights=weights, optimizer=optimizer)

        return take_checkpoint

    def _as_network(self, weights: Weights) -> Network:
        activation = self._scorer.activation if isinstance(self._scorer, Mlp) else "relu"
        with np.errstate(over="ignore"):  # weights in float64 may be too large
            layers = tuple(
                Layer(**{name: np.asarray(array, np.float32) for name, array in layer.items()})
                for layer in weights
            )
        for layer in layers:
            for array in layer.arrays().values():
                self._require_finite(array, self._history.kept_iterations, "weights")
        return Network(self._dataset.feature_names, self._transform, layers, activation)


def _descent(
    scorer: NetworkScorer, drawn: Weights, seed: int, factors: Weights
) -> "Differentiation | LinearDescent":
    if isinstance(scorer, Linear) and scorer.arithmetic == "float64":
        return LinearDescent(scorer, drawn, factors)
    from core.training.networks.differentiation import Differentiation  # requires the extra `neural`

    return Differentiation(scorer, drawn, seed, factors)
