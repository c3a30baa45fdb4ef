"""Trials of candidates: train without each fold of the queries, and score the held-out fold."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import lightgbm
import numpy as np

from core.autotrain.held_out import Fold, HeldOut, mean_of
from core.autotrain.portfolio import Candidate
from core.data import RankingDataset
from core.data.labels import LabelRange
from core.errors import ExtraMissing, InvalidInput
from core.metrics import conventions
from core.studies.pruning import is_worse_than_best
from core.training import TrainedModel, TrainingSpec, train
from core.training.automatic import DatasetSize
from core.training.binning import SharedBins
from core.training.boosting import bin_features
from core.training.labels import check_labels
from core.training.memory import memory_need
from core.training.models import EndTraining
from core.types import Float64Array, Int64Array, OnProgress

Status = Literal["complete", "stopped", "out-of-time"]
_Best = tuple[int, Float64Array, Float64Array]  # iteration, scores and values
_ONLY_TRAINING_SHARE = 0.25  # share of the time budget for the first or only training of a candidate
_MIN_COMPLETE_CANDIDATES = 4  # candidates for which the time budget should suffice
_LIMIT_FACTOR = 2  # later folds are trained for this multiple of the best iteration so far
_MIN_QUERIES_FOR_LIMIT = 50  # measured queries that suffice for such a limit


@dataclass(frozen=True)
class AutoSpec:
    """The specification of an automatic training.

    Attributes:
        metric: Spelling of the metric to select by.
        budget_seconds: Running time to plan for.
        contract: JSON of the conventions of the metric.
        prefer: `best` or `simple`, see `Selection.choose`.
        memory_bytes: Memory that a training may need, or None.
    """

    metric: str = "ndcg@10"
    budget_seconds: float = 300.0
    contract: Any = None
    prefer: str = "best"
    seed: int = 42
    memory_bytes: int | None = None


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores of the held-out documents of one fold at the measured iterations of a training.

    Attributes:
        iterations: int64 (k,) ascending measured iterations.
        scores: float64 (k, n_documents of the fold) scores, documents in ascending order of their rows.
        ended_early: Whether the training was ended because its time was up.
        content: Model file of the best of these iterations; empty unless the fold may be the only one.
    """

    iterations: Int64Array
    scores: Float64Array
    seconds: float
    ended_early: bool = False
    content: bytes = field(default=b"", repr=False)


class KeptScores(Protocol):
    """Store for the scores of the folds done, so that a later attempt can resume."""

    def load(self, candidate: int, fold: int) -> FoldScores | None:
        """Return the scores of a fold, or None."""

    def keep(self, candidate: int, fold: int, scores: FoldScores) -> None:
        """Keep the scores of a fold, also if its training ended early."""


class NothingKept:
    """Store that keeps nothing, for a process that is never resumed."""

    def load(self, candidate: int, fold: int) -> None:
        """Return None."""

    def keep(self, candidate: int, fold: int, scores: FoldScores) -> None:
        """Discard the scores."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate with its held-out scores.

    Attributes:
        iterations: Best number of iterations over all folds, 0 without a fold. For a single fold, the
            iterations of its model.
        scores: float64 (repetitions, n_documents) held-out scores at that iteration, NaN where not held out.
        values: float64 (n_queries,) values of the metric; larger is better, NaN where undefined.
        status: `complete`, `stopped` (shown to be worse than the best), or `out-of-time`.
        content: Model file of the only fold; empty where several folds are held out.
    """

    candidate: Candidate
    iterations: int
    scores: Float64Array = field(repr=False)
    values: Float64Array = field(repr=False)
    seconds: float
    folds: int
    status: Status
    content: bytes = field(default=b"", repr=False)

    @property
    def mean(self) -> float:
        """Return the mean of the values, -inf without any."""
        return mean_of(self.values)

    @property
    def is_measured(self) -> bool:
        """Return whether the metric is defined on a held-out query."""
        return not bool(np.isnan(self.values).all())


class Trials:
    """Trials of candidates on one dataset, whose features are binned once.

    Args:
        clock: Monotonic clock in seconds.
        check: Called after each tree, or between the batches of a network; may raise to stop.

    Raises:
        InvalidInput: See `HeldOut`.
    """

    def __init__(
        self,
        spec: AutoSpec,
        dataset: RankingDataset,
        *,
        threads: int,
        clock: Callable[[], float],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.spec = spec
        self.dataset = dataset
        self.held_out = HeldOut(dataset, spec.metric, conventions(spec.contract), spec.seed)
        self._threads, self._clock, self._check = threads, clock, check
        self._bins: lightgbm.Dataset | None = None

    def training(self, candidate: Candidate) -> TrainingSpec:
        """Return the specification of a candidate's training."""
        data = self.dataset
        size = DatasetSize(data.n_queries, data.n_documents, max(data.n_features, 1))
        return candidate.spec(size, self.spec.metric, self.spec.contract, self.spec.seed)

    def refusal(self, candidate: Candidate) -> str | None:
        """Return the reason why a candidate does not fit the data or the machine, None where it does."""
        if candidate.is_network and self.dataset.categories:
            return (
                "linear scorers and networks accept numeric features only, and some features are categorical"
            )
        if candidate.needs_jax and importlib.util.find_spec("jax") is None:
            return str(ExtraMissing("training a network", "neural"))
        spec = self.training(candidate)
        try:
            check_labels(LabelRange.of(self.dataset.labels), spec.loss, spec.all_metrics, spec.conventions)
        except InvalidInput as error:
            return str(error)
        limit = self.spec.memory_bytes
        if limit is not None and (need := memory_need(spec, self.dataset, self.dataset)).total > limit:
            return f"its training needs about {need}, and {limit / 2**20:,.0f} MiB are free"
        return None

    def try_candidate(
        self,
        number: int,
        candidate: Candidate,
        folds: int | None,
        *,
        time_left: Callable[[], float],
        rivals: Sequence[Float64Array] = (),
        on_fold: OnProgress | None = None,
        kept: KeptScores | None = None,
        is_first: bool = False,
    ) -> Tried:
        """Train a candidate without each fold, until it is shown to be worse or its time is up.

        Args:
            folds: Folds to hold out; None to derive the number from the budget and the first fold's time.
            time_left: Returns the seconds that are left for trials.
            rivals: Values of the complete candidates to compare with, (n_queries,) each.
            on_fold: Called after each fold with the number of folds done and their total.
            kept: Store for the scores of the folds done; None to keep none.
            is_first: Whether no other candidate was tried, so that the trial continues when the time is up.

        Raises:
            InvalidInput: The candidate cannot be trained, for instance since its scores overflow.
        """
        spec, kept = self.training(candidate), kept or NothingKept()
        done: list[tuple[Fold, FoldScores]] = []
        best = max(rivals, key=mean_of, default=None)
        limit, measured = spec.iterations, None
        for fold in self.held_out.folds():
            is_only_fold = folds is None or folds == 1
            scores = kept.load(number, fold.number)
            if scores is None:
                longest = max((each.seconds for _, each in done), default=0.0)
                if not is_first and time_left() <= longest:
                    return self._tried(candidate, done, "out-of-time", measured)
                max_seconds = np.inf if is_first else time_left()
                if is_only_fold:
                    max_seconds = min(max_seconds, self._only_training_seconds)
                scores = self._fold_scores(candidate, spec, fold, max_seconds, limit, keep_model=is_only_fold)
                kept.keep(number, fold.number, scores)
            if scores.ended_early and not is_only_fold:
                return self._tried(candidate, done, "out-of-time", measured)
            done.append((fold, scores))
            folds = folds or self._affordable_folds(scores.seconds, time_left())
            if on_fold is not None:
                on_fold(len(done), folds)
            measured = self._best(spec, done, limit)
            if len(done) >= folds:
                break
            iterations, _, values = measured
            if best is not None and is_worse_than_best(best, values, higher_is_better=True):
                return self._tried(candidate, done, "stopped", measured)
            limit = min(limit, self._limit(candidate, spec, len(done), iterations, values))
        return self._tried(candidate, done, "complete", measured)

    def fitted(self, tried: Tried) -> bytes:
        """Return the model file of a candidate.

        Where the budget allows one fold only, this is the model of that fold. Another training would take as
        long as another candidate.
        """
        return tried.content or self.fit(tried.candidate, tried.iterations).content

    def fit(self, candidate: Candidate, iterations: int) -> TrainedModel:
        """Train a candidate on all queries for the given number of iterations."""
        spec = self.training(candidate).with_iterations(iterations)
        spec = replace(spec, metric_interval=iterations)
        if candidate.is_network:
            from core.training.networks import train_network

            return train_network(spec, self.dataset, threads=self._threads, check=self._check)
        bins = SharedBins(self._binned(spec))
        return train(
            spec,
            self.dataset,
            threads=self._threads,
            bins=bins,
            on_iteration=lambda *_: self._check(),
        )

    @property
    def _only_training_seconds(self) -> float:
        return _ONLY_TRAINING_SHARE * self.spec.budget_seconds

    def _limit(
        self,
        candidate: Candidate,
        spec: TrainingSpec,
        folds: int,
        best_iteration: int,
        values: Float64Array,
    ) -> int:
        """Return the iterations that trainings on later folds need, given the best one so far.

        Sums over features have no limit: they train in a tenth of the time, and their best iteration varies.
        """
        measured = np.count_nonzero(~np.isnan(values))
        has_few = folds < self.held_out.n_folds and measured < _MIN_QUERIES_FOR_LIMIT
        if candidate.complexity == 1 or has_few:
            return spec.iterations
        interval = spec.metric_interval
        return -(-_LIMIT_FACTOR * best_iteration // interval) * interval

    def _affordable_folds(self, seconds: float, left: float) -> int:
        """Return the folds to hold out, so that several candidates can be complete within the budget."""
        affordable = left / (_MIN_COMPLETE_CANDIDATES * max(seconds, 1e-3)) + 1
        return int(np.clip(affordable, 1, self.held_out.total_folds))

    def _fold_scores(
        self,
        candidate: Candidate,
        spec: TrainingSpec,
        fold: Fold,
        max_seconds: float,
        limit: int,
        *,
        keep_model: bool,
    ) -> FoldScores:
        began = self._clock()
        measured: dict[int, Float64Array] = {}
        ended_early = False

        def check() -> None:
            nonlocal ended_early
            self._check()
            if limit in measured:
                raise EndTraining
            if self._clock() - began >= max_seconds and measured:
                ended_early = True
                raise EndTraining

        def on_scores(iteration: int, scores: Float64Array) -> None:
            measured[iteration] = scores.copy()

        training = self.dataset.select_queries(fold.training)
        held_out = self.dataset.select_queries(fold.held_out)
        trained: TrainedModel
        if candidate.is_network:
            from core.training.networks import train_network

            trained = train_network(
                spec, training, held_out, threads=self._threads, on_scores=on_scores, check=check
            )
        else:
            rows = self.held_out.rows
            bins = SharedBins(self._binned(spec), rows(fold.training), rows(fold.held_out))
            trained = train(
                spec,
                training,
                held_out,
                threads=self._threads,
                bins=bins,
                on_scores=on_scores,
                on_iteration=lambda *_: check(),
            )
        iterations = sorted(measured)
        return FoldScores(
            np.array(iterations, np.int64),
            np.stack([measured[iteration] for iteration in iterations]),
            self._clock() - began,
            ended_early,
            trained.content if keep_model else b"",
        )

    def _tried(
        self,
        candidate: Candidate,
        done: list[tuple[Fold, FoldScores]],
        status: Status,
        measured: _Best | None,
    ) -> Tried:
        nothing = 0, self.held_out.empty_scores(), np.full(self.dataset.n_queries, np.nan)
        iterations, scores, values = measured or nothing
        seconds = sum(each.seconds for _, each in done)
        content = done[0][1].content if len(done) == 1 else b""
        return Tried(candidate, iterations, scores, values, seconds, len(done), status, content)

    def _best(self, spec: TrainingSpec, done: list[tuple[Fold, FoldScores]], limit: int) -> _Best:
        """Return the best iteration up to a limit over the folds so far, with its scores and values.

        Several folds are compared at the iterations of the metric interval. A training without a further
        split measures its last tree, whose scores are those of all later iterations. A training that
        ended early has no scores at later iterations.
        """
        interval = spec.metric_interval if len(done) > 1 else 1
        measured = [
            np.minimum(-(-each.iterations // interval) * interval, spec.iterations) for _, each in done
        ]
        ends = [
            iterations[-1] for (_, each), iterations in zip(done, measured, strict=True) if each.ended_early
        ]
        last = min([limit, *ends])
        results = []
        for iteration in np.unique(np.concatenate(measured)):
            if iteration > last:
                break
            scores = self.held_out.empty_scores()
            for (fold, each), iterations in zip(done, measured, strict=True):
                index = max(int(np.searchsorted(iterations, iteration, side="right")) - 1, 0)
                repetition = fold.number // self.held_out.n_folds
                scores[repetition, self.held_out.rows(fold.held_out)] = each.scores[index]
            results.append((int(iteration), scores, self.held_out.values(scores)))
        return max(results, key=lambda result: mean_of(result[2]))

    def _binned(self, spec: TrainingSpec) -> lightgbm.Dataset:
        if self._bins is None:
            self._bins = bin_features(spec, self.dataset, self._threads)
        return self._bins
