"""Try the candidates on held-out queries within a limit of time, and fit the best sum on all queries."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import lightgbm
import numpy as np

from core.autotrain.held_out import Fold, HeldOut
from core.autotrain.portfolio import Candidate, portfolio
from core.autotrain.selection import Choice, Selection
from core.data import RankingDataset
from core.data.labels import LabelRange
from core.errors import ExtraMissing, InvalidInput
from core.metrics import conventions
from core.scorers import Member, Sum, write_sum
from core.studies.pruning import is_worse_than_best
from core.training import TrainedModel, TrainingSpec, train
from core.training.automatic import DatasetSize
from core.training.binning import SharedBins
from core.training.boosting import bin_features
from core.training.labels import check_labels
from core.types import Float64Array

Clock = Callable[[], float]
OnProgress = Callable[[str, int, int], None]
_SHARE_OF_TRIALS = 0.9  # of the limit; the rest is a reserve for wrong guesses of the final trainings' time


class _TimeIsUp(Exception):
    """A training was stopped since it would exceed the limit."""


@dataclass(frozen=True)
class AutoSpec:
    """The specification of an automatic training.

    Attributes:
        metric: Spelling of the metric.
        seconds: Limit of wall time.
        contract: JSON of the conventions of the metric.
        prefer: `simple`: one model unless a sum is shown to be better; `best`: whatever measured best.
        seed: Seed of all random choices.
    """

    metric: str = "ndcg@10"
    seconds: float = 300.0
    contract: Any = None
    prefer: str = "simple"
    seed: int = 42


@dataclass(eq=False)
class Tried:
    """A candidate with its held-out scores.

    Attributes:
        candidate: The candidate.
        iterations: Iterations that are best over all folds.
        scores: float64 (repetitions, n_documents) held-out scores, NaN where not tested.
        values: float64 (n_queries,) values, the larger the better.
        seconds: Wall time of its trainings.
        folds: Folds held out.
        status: `complete`, `stopped` (shown to be worse than the best), or `out-of-time`.
    """

    candidate: Candidate
    iterations: int
    scores: Float64Array = field(repr=False)
    values: Float64Array = field(repr=False)
    seconds: float
    folds: int
    status: str


@dataclass(frozen=True)
class NotTried:
    """A candidate that was not tried.

    Attributes:
        candidate: The candidate.
        reason: The reason.
    """

    candidate: Candidate
    reason: str


@dataclass(frozen=True, eq=False)
class AutoTrained:
    """The result of an automatic training.

    Attributes:
        content: The model's file: trees, a network, or a sum of them.
        members: Names of the candidates in the model, with their weights of scaled scores.
        choice: Weights of all complete candidates, and the honest value of each query.
        tried: Candidates that were tried, in order.
        not_tried: The others.
        held_out: The folds.
        seconds: Wall time by part.
    """

    content: bytes
    feature_names: tuple[str, ...]
    members: tuple[tuple[str, float], ...]
    choice: Choice
    selection: Selection
    scales: tuple[float, ...]
    complete: tuple[Tried, ...]
    tried: tuple[Tried, ...]
    not_tried: tuple[NotTried, ...]
    held_out: HeldOut
    seconds: dict[str, float]

    def chosen_by(self, prefer: str) -> Choice:
        """Return the choice among the complete candidates by another preference."""
        return self.selection.choose(prefer)

    @property
    def estimate(self) -> float:
        """Return the estimated mean of the metric on new queries."""
        return self.held_out.plain(float(np.nanmean(self.choice.values)))


def auto_train(
    spec: AutoSpec,
    dataset: RankingDataset,
    *,
    threads: int = 1,
    candidates: Sequence[Candidate] | None = None,
    on_progress: OnProgress = lambda name, done, total: None,
    clock: Clock = time.monotonic,
) -> AutoTrained:
    """Find the best ranking model that the data support, within a limit of time.

    Each candidate is trained without each fold of the queries; those that cannot be among the best are
    stopped. A weighted sum of candidates is selected by the held-out scores, and its members are trained again
    on all queries.

    Args:
        spec: The specification.
        dataset: Judged training data.
        threads: Threads of each training.
        candidates: The candidates in order; those of the portfolio when left out.
        on_progress: Called with the name of a candidate and the trainings done and planned; may raise to stop.
        clock: Seconds on a clock that never goes back.

    Raises:
        InvalidInput: No candidate fits the data, or none was complete within the limit.
    """
    search = _Search(spec, dataset, threads, on_progress, clock)
    return search.run(portfolio() if candidates is None else candidates)


class _Search:
    def __init__(
        self, spec: AutoSpec, dataset: RankingDataset, threads: int, on_progress: OnProgress, clock: Clock
    ) -> None:
        self._spec, self._dataset, self._threads = spec, dataset, threads
        self._on_progress, self._clock = on_progress, clock
        self._began = clock()
        self._deadline = self._began + _SHARE_OF_TRIALS * spec.seconds
        self._held_out = HeldOut(dataset, spec.metric, conventions(spec.contract), spec.seed)
        self._folds = self._held_out.total_folds
        self._bins: lightgbm.Dataset | None = None
        self._tried: list[Tried] = []
        self._not_tried: list[NotTried] = []

    def run(self, candidates: Sequence[Candidate]) -> AutoTrained:
        for place, candidate in enumerate(candidates):
            reason = self._refusal(candidate)
            if reason is not None:
                self._not_tried.append(NotTried(candidate, reason))
                continue
            self._on_progress(candidate.name, place, len(candidates))
            self._tried.append(self._try(candidate))
        complete = [each for each in self._tried if each.status == "complete"]
        if not complete:
            raise InvalidInput.at(
                "/seconds",
                f"{self._spec.seconds:g} seconds are not enough for one candidate; allow more time",
            )
        searched = self._clock()
        scales = [self._held_out.deviation(each.scores) or 1.0 for each in complete]
        scaled = [each.scores / scale for each, scale in zip(complete, scales, strict=True)]
        selection = Selection(self._held_out, scaled, [each.candidate.parts for each in complete])
        choice = selection.choose(self._spec.prefer)
        selected = self._clock()
        members = []
        for place in choice.members:
            each = complete[place]
            self._on_progress(each.candidate.name, len(candidates), len(candidates))
            content = self._fit(each.candidate, each.iterations).content
            members.append(
                Member(
                    each.candidate.name,
                    content,
                    tuple(self._dataset.feature_names),
                    float(choice.weights[place] / scales[place]),
                )
            )
        content = members[0].content if len(members) == 1 else write_sum(Sum.of(members))
        return AutoTrained(
            content,
            tuple(self._dataset.feature_names),
            tuple((complete[p].candidate.name, float(choice.weights[p])) for p in choice.members),
            choice,
            selection,
            tuple(scales),
            tuple(complete),
            tuple(self._tried),
            tuple(self._not_tried),
            self._held_out,
            {
                "trials": searched - self._began,
                "selection": selected - searched,
                "final trainings": self._clock() - selected,
            },
        )

    def _refusal(self, candidate: Candidate) -> str | None:
        """Return why a candidate is not tried, None where it is."""
        if candidate.is_network and self._dataset.categories:
            return "linear scorers and networks read numbers alone, and some features are categories"
        spec = self._training(candidate)
        try:
            check_labels(
                LabelRange.of(self._dataset.labels), spec.loss, spec.followed_metrics, spec.conventions
            )
            if candidate.is_network:
                import core.training.networks  # noqa: F401
        except (InvalidInput, ExtraMissing) as error:
            return str(error)
        if self._tried and self._clock() + self._reserve() >= self._deadline:
            return "the limit of time was reached"
        return None

    def _training(self, candidate: Candidate) -> TrainingSpec:
        size = self._dataset
        return candidate.spec(
            DatasetSize(size.n_queries, size.n_documents, size.n_features),
            self._spec.metric,
            self._spec.contract,
            self._spec.seed,
        )

    def _try(self, candidate: Candidate) -> Tried:
        began = self._clock()
        spec = self._training(candidate)
        measured: dict[int, Float64Array] = {}
        done, status = 0, "complete"
        for fold in self._held_out.folds():
            if done >= self._folds:
                break
            try:
                self._hold_out(candidate, spec, fold, measured)
            except _TimeIsUp:
                status = "out-of-time"
                break
            done += 1
            elapsed = self._clock() - began
            if not self._tried and done == 1:
                self._folds = self._affordable(elapsed)
            elif self._clock() + elapsed / done + self._reserve() >= self._deadline and done < self._folds:
                status = "out-of-time"
                break
            if done < self._folds and self._is_worse(measured):
                status = "stopped"
                break
        iterations, scores, values = self._best(measured) if done else (0, self._held_out.empty_scores(), None)
        if values is None:
            values = np.full(self._dataset.n_queries, np.nan)
        return Tried(candidate, iterations, scores, values, self._clock() - began, done, status)

    def _affordable(self, seconds: float) -> int:
        """Return the folds that each candidate is held out for, by the time of the first of all."""
        total = self._held_out.total_folds
        several = 4  # candidates that should be complete at least
        left = self._deadline - self._clock()
        return int(np.clip(left / (several * seconds) + 1, 1, total))

    def _hold_out(
        self, candidate: Candidate, spec: TrainingSpec, fold: Fold, measured: dict[int, Float64Array]
    ) -> None:
        """Train without a fold, and fill in its scores by iteration."""
        rows = self._held_out.rows(fold.held_out)
        repetition = fold.number // self._held_out.n_folds
        last = 0

        def on_scores(iteration: int, scores: Float64Array) -> None:
            nonlocal last
            if self._tried and self._clock() >= self._deadline:
                raise _TimeIsUp
            measured.setdefault(iteration, self._held_out.empty_scores())[repetition, rows] = scores
            last = iteration

        kept, held_out = self._dataset.select_queries(fold.kept), self._dataset.select_queries(fold.held_out)
        bins = self._shared(candidate, spec)
        if bins is None:
            from core.training.networks import train_network

            train_network(spec, kept, held_out, threads=self._threads, on_scores=on_scores)
        else:
            bins = replace(bins, training=self._held_out.rows(fold.kept), validation=rows)
            train(spec, kept, held_out, threads=self._threads, bins=bins, on_scores=on_scores)
        for iteration in measured:
            if iteration > last > 0:  # trees that found no other split are as they were
                measured[iteration][repetition, rows] = measured[last][repetition, rows]

    def _shared(self, candidate: Candidate, spec: TrainingSpec) -> SharedBins | None:
        if candidate.is_network:
            return None
        if self._bins is None:
            self._bins = bin_features(spec, self._dataset, self._threads)
        return SharedBins(self._bins)

    def _best(self, measured: dict[int, Float64Array]) -> tuple[int, Float64Array, Float64Array]:
        """Return the best iteration over all folds so far, with its scores and values."""
        values = {iteration: self._held_out.values(scores) for iteration, scores in measured.items()}
        best = max(sorted(values), key=lambda iteration: _mean(values[iteration]))
        return best, measured[best], values[best]

    def _is_worse(self, measured: dict[int, Float64Array]) -> bool:
        """Return whether a candidate is shown to be worse than the best complete one."""
        complete = [each for each in self._tried if each.status == "complete"]
        if not complete:
            return False
        best = max(complete, key=lambda each: _mean(each.values))
        return is_worse_than_best(best.values, self._best(measured)[2], higher_is_better=True)

    def _reserve(self) -> float:
        """Return the seconds that the final trainings of the best candidates may take."""
        complete = [each for each in self._tried if each.status == "complete"]
        best = sorted(complete, key=lambda each: -_mean(each.values))[:3]
        n_folds = self._held_out.n_folds
        return sum(each.seconds / max(each.folds, 1) * n_folds / (n_folds - 1) for each in best)

    def _fit(self, candidate: Candidate, iterations: int) -> TrainedModel:
        spec = self._training(candidate).with_iterations(iterations)
        spec = replace(spec, metric_interval=spec.iterations)
        bins = self._shared(candidate, spec)
        if bins is None:
            from core.training.networks import train_network

            return train_network(spec, self._dataset, threads=self._threads)
        return train(spec, self._dataset, threads=self._threads, bins=bins)


def fit_again(spec: AutoSpec, dataset: RankingDataset, tried: Tried, threads: int = 1) -> bytes:
    """Fit a candidate that was tried on other data, for as many iterations as were best."""
    search = _Search(spec, dataset, threads, lambda *_: None, time.monotonic)
    return search._fit(tried.candidate, tried.iterations).content


def _mean(values: Float64Array) -> float:
    found = values[~np.isnan(values)]
    return float(found.mean()) if len(found) else -np.inf
