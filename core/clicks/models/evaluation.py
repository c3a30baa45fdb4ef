"""Evaluation of click models on held-out lists, and comparison of several models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.models.estimation import estimate, no_report
from core.clicks.models.fitting import require_clicks
from core.clicks.models.layout import QueryBlocks
from core.clicks.models.model import ClickModel
from core.clicks.models.prediction import likelihoods
from core.clicks.models.specification import MODELS, ClickModelSpec
from core.errors import InvalidInput
from core.ranges import use_threads
from core.types import BoolArray, Float64Array, Int32Array, OnPhaseProgress

_LEVEL = 0.05


@dataclass(frozen=True)
class Evaluation:
    """The quality of a click model's predictions on lists.

    Attributes:
        log_likelihood: Mean over lists of the mean over impressions of ln P, given the clicks above.
        perplexity: Mean over ranks of 2^(−mean log₂ P), marginal over the clicks above. 1 is perfect; 2
            is the value of a prediction of 0.5.
        conditional_perplexity: Perplexity given the clicks above.
        by_rank: (n_ranks, 3) rank, perplexity and conditional perplexity.
        by_list: (n_lists,) the terms of `log_likelihood`, without lists that are ignored or have no
            impression down to `max_rank`.
    """

    model: str
    log_likelihood: float
    perplexity: float
    conditional_perplexity: float
    by_rank: Float64Array
    by_list: Float64Array

    def to_json(self) -> dict[str, Any]:
        """Return the evaluation as JSON values."""
        names = ("rank", "perplexity", "conditional_perplexity")
        return {
            "model": self.model,
            "label": MODELS[self.model].label,
            "log_likelihood": self.log_likelihood,
            "perplexity": self.perplexity,
            "conditional_perplexity": self.conditional_perplexity,
            "by_rank": [
                dict(zip(names, (int(row[0]), *row[1:].tolist()), strict=True)) for row in self.by_rank
            ],
        }


@dataclass(frozen=True)
class ModelComparison:
    """Click models compared on held-out lists.

    Attributes:
        evaluations: Evaluations of each model, the best log-likelihood first.
        differences: Difference of log-likelihood of each further model to the best, and its simultaneous 95%
            interval, infinite for a single user.
        unseen_share: Share of held-out impressions whose pairs do not occur in the other lists down to
            `max_rank`.
        sentence: Sentence on the best model, and on models that cannot be distinguished from it.
    """

    evaluations: tuple[Evaluation, ...]
    differences: tuple[tuple[float, float, float], ...]
    held_out_lists: int
    unseen_share: float
    sentence: str

    @property
    def best(self) -> str:
        """Return the name of the model with the best log-likelihood."""
        return self.evaluations[0].model

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON values."""
        rows = [evaluation.to_json() for evaluation in self.evaluations]
        for row, (difference, lower, upper) in zip(rows[1:], self.differences, strict=True):
            ends = (end if np.isfinite(end) else None for end in (lower, upper))
            row["difference"] = {"value": difference, **dict(zip(("lower", "upper"), ends, strict=True))}
        return {
            "models": rows,
            "held_out_lists": self.held_out_lists,
            "unseen_share": self.unseen_share,
            "sentence": self.sentence,
        }


def evaluate_click_model(
    model: ClickModel, log: ClickLog, weights: Float64Array | None = None, *, threads: int = 1
) -> Evaluation:
    """Evaluate a click model on lists.

    Probabilities below 1e-6 count as 1e-6. Results equal those of PyClick's `Evaluation.py` where all lists
    have 10 documents. For other lists, perplexities are means over the impressions of each rank, while
    PyClick divides by the number of lists.

    Args:
        log: A log with the same pairs as the log from which the model was estimated.
        weights: (n_lists,) weights; lists of weight 0 are ignored, all others count equally. None for all
            lists.

    Raises:
        InvalidInput: No list with a weight other than 0 has an impression.
    """
    use_threads(threads)
    lists = QueryBlocks.of(log, model.max_rank)
    return _evaluate(model, lists, np.ones(log.n_lists) if weights is None else weights)


def _evaluate(model: ClickModel, lists: QueryBlocks, weights: Float64Array) -> Evaluation:
    likelihood = likelihoods(model, lists, lists.in_order(weights))
    ranks = np.flatnonzero(likelihood.by_rank[:, 0])
    if not len(ranks):
        raise InvalidInput.at("/weights", "must be above 0 for a list with impressions")
    logs = likelihood.by_rank[ranks, 1:] / likelihood.by_rank[ranks, :1]
    perplexities = 2.0**-logs
    by_list = likelihood.by_list[lists.has_impressions & (weights != 0.0)]
    return Evaluation(
        model=model.spec.model,
        log_likelihood=float(by_list.mean()),
        perplexity=float(perplexities[:, 0].mean()),
        conditional_perplexity=float(perplexities[:, 1].mean()),
        by_rank=np.column_stack([ranks, perplexities]),
        by_list=by_list,
    )


def held_out_list_weights(log: ClickLog, share: float, seed: int = 0) -> Float64Array:
    """Draw held-out lists: the lists of a share of the users, or a share of lists in a log without users.

    Returns:
        (n_lists,) 1 for held-out lists, 0 for others.
    """
    drawn = (np.random.default_rng(seed).random(log.n_units) < share).astype(np.float64)
    return drawn if log.list_users is None else drawn[log.list_users]


def compare_click_models(
    log: ClickLog,
    models: Sequence[str],
    spec: ClickModelSpec | None = None,
    *,
    held_out: float = 0.2,
    report: OnPhaseProgress = no_report,
    threads: int = 1,
) -> ModelComparison:
    """Estimate models on a part of the lists and compare them on the held-out part.

    Log-likelihoods are compared list by list. Intervals are by Student's t with the standard error of the
    jackknife over users. The jackknife also suits users with different numbers of lists (Cameron and Miller
    2015, section VI.B). The Bonferroni correction counts all pairs of models, since the best is chosen from
    data.

    Args:
        spec: Shared options, or None for the defaults.
        held_out: Share of users, or of lists where the log has no users, to compare on.
        report: Called with a step, the number of models done and their total; may raise to stop.

    Raises:
        InvalidInput: The log has no clicks, the part for estimation no lists, or the held-out part no
            impressions.
    """
    require_clicks(log)
    use_threads(threads)
    shared = ClickModelSpec() if spec is None else spec
    lists = QueryBlocks.of(log, shared.max_rank)
    held_out_weights = held_out_list_weights(log, held_out, shared.seed)
    held_out_weights[~lists.has_impressions] = 0.0
    if not (held_out_weights == 0.0).any():
        raise InvalidInput.at("/held_out", "leaves no list for the estimation; decrease it")
    if not held_out_weights.any():
        raise InvalidInput.at("/held_out", "leaves no list with impressions for the evaluation; increase it")
    evaluations = []
    for done, name in enumerate(models):
        report("models", done, len(models))
        fitted = estimate(lists, replace(shared, model=name), lists.in_order(1.0 - held_out_weights))
        evaluations.append(_evaluate(fitted, lists, held_out_weights))
        seen = fitted.impressions > 0
    report("models", len(models), len(models))
    ordered = sorted(evaluations, key=lambda evaluation: -evaluation.log_likelihood)
    users = None if log.list_users is None else log.list_users[held_out_weights != 0.0]
    differences = _differences(ordered, users)
    return ModelComparison(
        evaluations=tuple(ordered),
        differences=differences,
        held_out_lists=int(held_out_weights.sum()),
        unseen_share=_unseen_share(log, held_out_weights, seen),
        sentence=_sentence(ordered, differences),
    )


def _unseen_share(log: ClickLog, held_out_weights: Float64Array, seen: BoolArray) -> float:
    pairs = log.pairs[held_out_weights[log.list_of_impression] != 0.0]
    return float(1.0 - seen[pairs].mean()) if len(pairs) else 0.0


def _differences(
    ordered: Sequence[Evaluation], users: Int32Array | None
) -> tuple[tuple[float, float, float], ...]:
    pairs = math.comb(len(ordered), 2)
    return tuple(_difference(ordered[0], other, users, pairs) for other in ordered[1:])


def _difference(
    best: Evaluation, other: Evaluation, users: Int32Array | None, pairs: int
) -> tuple[float, float, float]:
    from scipy import special  # its import takes a tenth of a second

    differences = other.by_list - best.by_list
    mean = float(differences.mean())
    of_lists = np.arange(len(differences)) if users is None else np.unique(users, return_inverse=True)[1]
    lists = np.bincount(of_lists)
    units = len(lists)
    if units < 2:
        return mean, -np.inf, np.inf
    changes = np.bincount(of_lists, weights=differences - mean) / (len(differences) - lists)
    error = np.sqrt(float((changes**2).sum()) * (units - 1) / units)
    width = float(special.stdtrit(units - 1, 1.0 - _LEVEL / (2 * pairs)) * error)
    return mean, mean - width, mean + width


def _sentence(ordered: Sequence[Evaluation], differences: Sequence[tuple[float, float, float]]) -> str:
    best = f"`{ordered[0].model}` predicts held-out clicks best"
    if len(ordered) == 1:
        return f"`{ordered[0].model}` has perplexity {ordered[0].perplexity:.3f} on held-out lists."
    alike = [
        f"`{other.model}`"
        for other, (_, _, upper) in zip(ordered[1:], differences, strict=True)
        if upper >= 0.0
    ]
    if not alike:
        return f"{best}; the difference is significant (95%)."
    if len(alike) == len(ordered) - 1 and len(alike) > 1:
        leader = f"`{ordered[0].model}` has the highest log-likelihood"
        return f"No model is significantly best: {leader}, but no model differs significantly from it."
    named = alike[0] if len(alike) == 1 else f"{', '.join(alike[:-1])} and {alike[-1]}"
    return f"{best}; the difference from {named} is not significant (95%)."
