"""Search: evaluate candidates on held-out queries within a time budget, and fit the best sum."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.autotrain.conclusion import DEFAULT_TREES, Conclusion, conclude, untrained_baselines
from core.autotrain.portfolio import Candidate, portfolio
from core.autotrain.selection import Choice, Selection
from core.autotrain.trials import AutoSpec, Trials, Tried
from core.data import RankingDataset
from core.errors import InvalidInput
from core.scorers import Member, Sum, write_sum
from core.types import Float64Array, OnPhaseProgress

WAVE = 4  # candidates tried in parallel, compared with earlier waves only
_TRAINING_SHARE = 0.9  # share of the time budget for trials and final trainings
_EXPECTED_MEMBERS = 6
BUDGET_EXHAUSTED = "the time budget was used up"


@dataclass(frozen=True)
class NotTried:
    """A candidate that was not tried."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, eq=False)
class Selected:
    """The selected candidates of the model, before they are fitted on all queries.

    Attributes:
        complete: The candidates that were trained for all folds, in order.
        selection: Selection among these candidates.
        choice: Weights of the scaled scores, and the value of each query with weights chosen without that
            query.
    """

    complete: tuple[Tried, ...]
    selection: Selection
    choice: Choice

    @property
    def members(self) -> list[tuple[Tried, float]]:
        """Return the candidates of the model with the weights of their scaled scores."""
        return [(self.complete[index], float(self.choice.weights[index])) for index in self.choice.members]

    def content(self, fitted: Sequence[bytes], feature_names: Sequence[str]) -> bytes:
        """Return the file content of the model."""
        if len(fitted) == 1:
            return fitted[0]
        members = [
            Member(
                self.complete[index].candidate.name,
                content,
                tuple(feature_names),
                float(self.choice.weights[index] / self.selection.scales[index]),
            )
            for index, content in zip(self.choice.members, fitted, strict=True)
        ]
        return write_sum(Sum.of(members))

    @property
    def name(self) -> str:
        """Return a description of the model, `the weighted sum of 2 models (a, b)`."""
        names = [tried.candidate.name for tried, _ in self.members]
        if len(names) == 1:
            return names[0]
        return f"the weighted sum of {len(names)} models ({', '.join(names)})"

    def conclusion(self, trials: Trials, threads: int = 1) -> Conclusion:
        """Compare the model with LightGBM's defaults and untrained rankings, on held-out queries."""
        defaults = [
            (tried.candidate.name, tried.values)
            for tried in self.complete
            if tried.candidate.name == DEFAULT_TREES and self.name != DEFAULT_TREES
        ]
        seed = trials.spec.seed
        others = [*defaults, *untrained_baselines(trials.held_out, seed)]
        values = self.choice.values
        return conclude(
            self.name,
            trials.spec.metric,
            values,
            others,
            trials.held_out,
            "held-out",
            variance_factor=trials.held_out.variance_factor(self.complete[0].folds),
            seed=seed,
            threads=threads,
        )


def select(trials: Trials, tried: Sequence[Tried], refusals: Iterable[str] = ()) -> Selected:
    """Select a model, or a sum of models, from the complete candidates by their held-out scores.

    Args:
        refusals: The reasons why other candidates were not tried.

    Raises:
        InvalidInput: No candidate is complete, or the metric is undefined on all held-out queries.
    """
    complete = tuple(each for each in tried if each.status == "complete")
    if not tried:
        reasons = "; ".join(dict.fromkeys(refusals))
        raise InvalidInput.at("/dataset_id", f"no candidate can be trained on these data: {reasons}")
    if not complete:
        raise InvalidInput.at(
            "/budget_seconds",
            f"{trials.spec.budget_seconds:g} seconds are not enough to train one candidate; increase the"
            " time budget",
        )
    if not any(each.is_measured for each in complete):
        raise InvalidInput.at(
            "/budget_seconds",
            f"{trials.spec.metric} is undefined on every query that was held out within"
            f" {trials.spec.budget_seconds:g} seconds; increase the time budget",
        )
    selection = Selection(
        trials.held_out, [each.scores for each in complete], [each.candidate.complexity for each in complete]
    )
    return Selected(complete, selection, selection.choose(trials.spec.prefer))


def reserve_seconds(trials: Trials, tried: Sequence[Tried]) -> float:
    """Return the seconds that the final trainings of the best candidates so far may take."""
    best = sorted((each for each in tried if each.folds), key=lambda each: -each.mean)[:_EXPECTED_MEMBERS]
    n_folds = trials.held_out.n_folds
    return sum(each.seconds / each.folds * n_folds / (n_folds - 1) for each in best if not each.content)


def trial_seconds(spec: AutoSpec) -> float:
    """Return the seconds of a budget for trials and final trainings."""
    return _TRAINING_SHARE * spec.budget_seconds


def rivals_before(number: int, tried: Sequence[tuple[int, Tried]]) -> list[Float64Array]:
    """Return the values of the complete candidates in earlier waves, to compare a candidate with.

    Candidates of the same wave are not compared, so that the model does not depend on the number of workers.

    Args:
        tried: Candidates with their positions.
    """
    first = number // WAVE * WAVE
    return [each.values for other, each in tried if other < first and each.status == "complete"]


@dataclass(frozen=True, eq=False)
class AutoTrained:
    """The result of an automatic training.

    Attributes:
        content: Model file: trees, a linear scorer, a network, or a sum of these.
        selected: Members of the model and their selection.
        tried: Candidates that were tried, in order.
        not_tried: Candidates that were not tried.
        conclusion: Quality of the model on held-out queries.
        seconds: Running time by part.
    """

    content: bytes
    feature_names: tuple[str, ...]
    selected: Selected
    tried: tuple[Tried, ...]
    not_tried: tuple[NotTried, ...]
    conclusion: Conclusion
    seconds: dict[str, float]


def auto_train(
    spec: AutoSpec,
    dataset: RankingDataset,
    *,
    threads: int = 1,
    candidates: Sequence[Candidate] | None = None,
    on_progress: OnPhaseProgress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> AutoTrained:
    """Find the best ranking model within a time budget.

    Each candidate is trained without each fold of the queries; candidates that are shown to be worse are
    stopped. A weighted sum of candidates is selected by the held-out scores, and its members are trained
    again on all queries. Where the budget allows one fold only, its models are the members.

    Args:
        candidates: The candidates in order; the portfolio when left out.
        on_progress: Called with the next activity, the number of candidates done and their total; may raise
            to stop.
        clock: Monotonic clock in seconds.

    Raises:
        InvalidInput: No candidate fits the data, or none was complete within the budget.
    """
    start = clock()
    trials = Trials(spec, dataset, threads=threads, clock=clock)
    listed = portfolio() if candidates is None else candidates
    refused = {number: trials.refusal(candidate) for number, candidate in enumerate(listed)}
    not_tried = {number: reason for number, reason in refused.items() if reason is not None}
    tried: dict[int, Tried] = {}

    def time_left() -> float:
        spent = clock() - start
        return trial_seconds(spec) - spent - reserve_seconds(trials, list(tried.values()))

    folds: int | None = None

    def on_fold(_: int, planned: int) -> None:
        nonlocal folds
        folds = planned

    def report(activity: str, done: int) -> None:
        if on_progress is not None:
            on_progress(activity, done, len(listed))

    for number, candidate in enumerate(listed):
        if number in not_tried:
            continue
        report(f"trying {candidate.name}", number)
        if tried and time_left() <= 0.0:
            not_tried[number] = BUDGET_EXHAUSTED
            continue
        try:
            tried[number] = trials.try_candidate(
                number,
                candidate,
                folds,
                time_left=time_left,
                rivals=rivals_before(number, list(tried.items())),
                on_fold=on_fold,
                is_first=not tried,
            )
        except InvalidInput as refusal:
            not_tried[number] = str(refusal)
    trials_end = clock()
    selected = select(trials, list(tried.values()), not_tried.values())
    conclusion = selected.conclusion(trials, threads)
    selection_end = clock()
    fitted = []
    for each, _ in selected.members:
        report(f"fitting {each.candidate.name}", len(listed))
        fitted.append(trials.fitted(each))
    return AutoTrained(
        selected.content(fitted, dataset.feature_names),
        tuple(dataset.feature_names),
        selected,
        tuple(tried.values()),
        tuple(NotTried(listed[number], reason) for number, reason in sorted(not_tried.items())),
        conclusion,
        {
            "trials": trials_end - start,
            "selection": selection_end - trials_end,
            "final trainings": clock() - selection_end,
        },
    )
