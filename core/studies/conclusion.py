"""Conclude a study by a single test on its held-out queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.evaluation.comparison import MetricDifference
from core.evaluation.paired import format_p

StudyVerdict = Literal["better", "worse", "no-evidence"]


@dataclass(frozen=True)
class TrialResult:
    """A trial with its cross-validated value.

    Attributes:
        number: Number of the trial; 0 is the default.
        value: Mean of the objective over queries; optimistic for the best of many trials.
        model: The refitted model, `web:3`.
    """

    number: int
    value: float
    model: str


@dataclass(frozen=True)
class Conclusion:
    """The result of a study.

    Attributes:
        verdict: `better` only if the difference on the held-out queries is significant.
        sentence: The result as a sentence with numbers.
        held_out: `{"winner", "default", "difference", "interval", "p_value", "queries"}` on held-out queries.
        cross_validated: `{"winner", "default"}`, optimistic for the winner.
    """

    verdict: StudyVerdict
    sentence: str
    held_out: Mapping[str, Any]
    cross_validated: Mapping[str, float]
    winner_number: int
    winner_model: str
    default_model: str


def conclude(
    metric: str, winner: TrialResult, default: TrialResult, difference: MetricDifference | None
) -> Conclusion:
    """Conclude whether the winner is better than the default.

    Args:
        metric: Name of the objective's metric, such as `ndcg@10`.
        winner: The best trial, which is not the default.
        default: Trial 0.
        difference: Winner (B) against default (A) by Fisher's randomisation test on the held-out queries;
            None if the metric is undefined for all held-out queries.
    """
    values = {"winner": winner.value, "default": default.value}
    optimistic = (
        f"cross-validated {metric}, {winner.value:.4f} against {default.value:.4f}, is optimistic,"
        " because it is the best of many trials."
    )
    if difference is None:
        sentence = (
            f"{metric} is undefined on every held-out query, so there is no evidence that trial"
            f" {winner.number} is better than the default. The trial's {optimistic}"
        )
        return _conclusion("no-evidence", sentence, _no_held_out_values(), values, winner, default)
    paired = difference.paired
    held_out = {
        "winner": paired.mean_b,
        "default": paired.mean_a,
        "difference": paired.difference,
        "interval": None if paired.lower is None else [paired.lower, paired.upper],
        "p_value": difference.adjusted_p,
        "queries": paired.queries,
    }
    verdict: StudyVerdict = "no-evidence" if difference.verdict == "no evidence" else difference.verdict
    opening = {
        "better": f"Trial {winner.number} is better than the default",
        "worse": f"Trial {winner.number} won the study, but is worse than the default",
        "no-evidence": f"There is no evidence that trial {winner.number} is better than the default",
    }[verdict]
    sentence = (
        f"{opening}: {metric} {paired.mean_b:.4f} against {paired.mean_a:.4f} on {paired.queries:,} held-out"
        f" queries, {paired.difference:+.4f} ({paired.interval}, {format_p(difference.adjusted_p)})."
        f" Its {optimistic}"
    )
    return _conclusion(verdict, sentence, held_out, values, winner, default)


def conclude_without_improvement(
    metric: str, default: TrialResult, held_out: float | None, trials: int
) -> Conclusion:
    """Conclude that no trial was better than the default in cross-validation.

    Args:
        metric: Name of the objective's metric, such as `ndcg@10`.
        default: Trial 0, which won.
        held_out: Mean of the default on the held-out queries, None if the metric is undefined for all.
        trials: Number of other measured trials, including pruned trials.
    """
    held_out_text = "" if held_out is None else f", {held_out:.4f} on held-out queries"
    others = f"None of {trials:,} other trials" if trials > 1 else "No other trial"
    sentence = (
        f"{others} was better than the default, whose cross-validated {metric} is"
        f" {default.value:.4f}{held_out_text}."
    )
    held_out_values = _no_held_out_values() | {"winner": held_out, "default": held_out}
    values = {"winner": default.value, "default": default.value}
    return _conclusion("no-evidence", sentence, held_out_values, values, default, default)


def _no_held_out_values() -> dict[str, Any]:
    names = ("winner", "default", "difference", "interval", "p_value", "queries")
    return dict.fromkeys(names)


def _conclusion(
    verdict: StudyVerdict,
    sentence: str,
    held_out: Mapping[str, Any],
    values: Mapping[str, float],
    winner: TrialResult,
    default: TrialResult,
) -> Conclusion:
    return Conclusion(verdict, sentence, held_out, values, winner.number, winner.model, default.model)
