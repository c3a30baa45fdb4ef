"""Estimation of click models: one pass of counting, or iterations of EM."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.clicks.models import counting
from core.clicks.models.browsing import browsing_pass, examination_indices
from core.clicks.models.chains import chain_pass
from core.clicks.models.counting import RANK_CLICKS, RANK_NOT_LAST, RANK_TRIALS, count_clicks
from core.clicks.models.layout import CAP, CLICKED, TRIALS, PairSums, QueryBlocks, ratio
from core.clicks.models.model import ClickModel, Parameters
from core.clicks.models.specification import ClickModelSpec
from core.types import Float64Array, OnPhaseProgress

_LAST_EXAMINED = {"cascade": counting.FIRST_CLICK, "dcm": counting.LAST_CLICK, "sdbn": counting.LAST_CLICK}
_Passes = Iterator[tuple[Parameters, PairSums]]
_INITIAL_VALUE = 0.5  # initial value of each parameter; PyClick starts with 1 success of 2 trials


def no_report(step: str, done: int, total: int) -> None:
    """Report nothing."""


def estimate(
    lists: QueryBlocks, spec: ClickModelSpec, weights: Float64Array, report: OnPhaseProgress = no_report
) -> ClickModel:
    """Estimate a model's parameters without intervals.

    Args:
        weights: (n_lists,) weight of each list, in the order of the blocks.
        report: See `fit_click_model`.
    """
    ones = np.ones(lists.max_rank + 1)
    totals, by_rank = count_clicks(lists, weights, counting.ALL, ones)
    if spec.kind.iterates:
        parameters, sums, changes = _iterate(lists, spec, weights, report)
    else:
        sums, by_rank = _observed_sums(lists, spec, weights, totals, by_rank)
        parameters, changes = _closed_form(spec, sums, by_rank), ()
    return ClickModel(
        spec=spec,
        max_rank=lists.max_rank,
        parameters=parameters,
        sums=sums,
        impressions=totals.values[:, TRIALS].copy(),
        clicks=totals.values[:, CLICKED].copy(),
        changes=changes,
    )


def _observed_sums(
    lists: QueryBlocks,
    spec: ClickModelSpec,
    weights: Float64Array,
    totals: PairSums,
    by_rank: Float64Array,
) -> tuple[PairSums, Float64Array]:
    """Return the sums by pair and by rank that a model without iterations needs."""
    if spec.model == "ctr":
        return totals, by_rank
    if spec.model == "coec":
        rates = ratio(by_rank[:, RANK_CLICKS], by_rank[:, RANK_TRIALS], (0.0, 0.0))
        return count_clicks(lists, weights, counting.ALL, rates)[0], by_rank
    return count_clicks(lists, weights, _LAST_EXAMINED[spec.model], np.ones(lists.max_rank + 1))


def _closed_form(spec: ClickModelSpec, sums: PairSums, by_rank: Float64Array) -> Parameters:
    prior = spec.prior
    if spec.model == "coec":
        rates = ratio(by_rank[:, RANK_CLICKS], by_rank[:, RANK_TRIALS], (0.0, 0.0))
        # Pseudo-clicks are added to clicks and expected clicks, which shrinks the quotient towards 1. The
        # quotient may be above 1, being no probability.
        return Parameters(sums.attractiveness((prior[0], 0.0), np.inf), examination=rates[1:])
    parameters = Parameters(sums.attractiveness(prior, CAP))
    if spec.model == "sdbn":
        return replace(parameters, satisfaction=sums.satisfaction(prior))
    if spec.model == "dcm":
        continuation = ratio(by_rank[:, RANK_NOT_LAST], by_rank[:, RANK_CLICKS], prior)
        continuation[0] = 0.0
        return replace(parameters, continuation=continuation)
    return parameters


def _iterate(
    lists: QueryBlocks, spec: ClickModelSpec, weights: Float64Array, report: OnPhaseProgress
) -> tuple[Parameters, PairSums, tuple[float, ...]]:
    passes = _chain(lists, spec, weights) if spec.model == "dbn" else _browsing(lists, spec, weights)
    changes: list[float] = []
    previous, _ = next(passes)
    for done in range(spec.iterations):
        report("passes of EM", done, spec.iterations)
        parameters, sums = next(passes)
        changes.append(_largest_change(previous, parameters))
        previous = parameters
    report("passes of EM", spec.iterations, spec.iterations)
    return parameters, sums, tuple(changes)


def _browsing(lists: QueryBlocks, spec: ClickModelSpec, weights: Float64Array) -> _Passes:
    """Yield the initial values and the result of each EM iteration, for examination by rank."""
    indices = examination_indices(spec.model, lists.max_rank)
    attractiveness = np.full(lists.log.n_pairs, _INITIAL_VALUE)
    examination = np.full(int(indices.max()) + 1, _INITIAL_VALUE)
    yield Parameters(attractiveness, examination=examination), PairSums.zeros(0)
    while True:
        sums, by_index = browsing_pass(lists, weights, indices, attractiveness, examination)
        attractiveness = sums.attractiveness(spec.prior, CAP)
        examination = ratio(by_index[:, 0], by_index[:, 1], spec.prior, CAP)
        yield Parameters(attractiveness, examination=examination), sums


def _chain(lists: QueryBlocks, spec: ClickModelSpec, weights: Float64Array) -> _Passes:
    """Yield the initial values and the result of each EM iteration, for the dynamic Bayesian network."""
    attractiveness = np.full(lists.log.n_pairs, _INITIAL_VALUE)
    satisfaction, persistence = attractiveness, _INITIAL_VALUE
    yield Parameters(attractiveness, satisfaction=satisfaction, persistence=persistence), PairSums.zeros(0)
    while True:
        estimates = (attractiveness, satisfaction, persistence)
        sums, continued = chain_pass(lists, weights, *estimates, as_pyclick=spec.as_pyclick)
        attractiveness = sums.attractiveness(spec.prior, CAP)
        satisfaction = sums.satisfaction(spec.prior, CAP)
        persistence = float(ratio(continued[:1], continued[1:], spec.prior, CAP)[0])
        yield Parameters(attractiveness, satisfaction=satisfaction, persistence=persistence), sums


def _largest_change(previous: Parameters, parameters: Parameters) -> float:
    arrays = ((p.attractiveness, p.satisfaction, *p.shared().values()) for p in (previous, parameters))
    pairs = zip(*arrays, strict=True)
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in pairs if a is not None and b is not None)
