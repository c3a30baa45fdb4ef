"""Estimates of click models equal sums over all possible behaviour of users."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core.clicks.judgment_options import JudgmentSpec
from core.clicks.judgments import judge_clicks
from core.clicks.models import (
    MODELS,
    ClickModel,
    ClickModelSpec,
    compare_click_models,
    evaluate_click_model,
    fit_click_model,
)
from core.clicks.models.browsing import browsing_pass, examination_indices
from core.clicks.models.chains import chain_pass
from core.clicks.models.layout import CLICKED, EXAMINED, SATISFIED, SUCCESSES, TRIALS, QueryBlocks
from core.errors import InvalidInput
from core.ranges import use_threads
from tests.core.clicks.models.plain import browsing_probability, chain_states, marginals
from tests.core.clicks.models.sessions import Session, as_log, draw_sessions

PATTERNS = list(itertools.product([False, True], repeat=4))
LOG = as_log(draw_sessions())


def test_expectations_of_the_dynamic_bayesian_network_are_exact() -> None:
    """For each pattern of clicks, sums are the expectations over all hidden states."""
    alphas, sigmas, gamma = [0.3, 0.6, 0.2, 0.7], [0.5, 0.1, 0.8, 0.4], 0.75
    for clicks in PATTERNS:
        lists = QueryBlocks.of(as_log([Session(0, (0, 1, 2, 3), clicks)]), 50)
        alpha, sigma = (np.array([*values] + [0.5] * 32) for values in (alphas, sigmas))
        sums, continued = chain_pass(lists, np.ones(1), alpha, sigma, gamma, as_pyclick=False)
        states = chain_states(alphas, sigmas, gamma, clicks)
        total = sum((p for _, _, p in states), 0.0)
        for rank in range(4):
            examined = sum(p for e, _, p in states if e[rank]) / total
            attractive = examined if clicks[rank] else (1.0 - examined) * alphas[rank]
            satisfied = sum(p for _, s, p in states if s[rank]) / total
            found = sums.values[rank]
            np.testing.assert_allclose(found[EXAMINED], examined, rtol=1e-12)
            np.testing.assert_allclose(found[SUCCESSES], attractive, rtol=1e-12)
            np.testing.assert_allclose(found[SATISFIED], satisfied, rtol=1e-12)
            assert (found[TRIALS], found[CLICKED]) == (1.0, float(clicks[rank]))
        could = sum(p * sum(e[r] and not s[r] for r in range(3)) for e, s, p in states) / total
        went_on = sum(p * sum(e[r + 1] for r in range(3)) for e, _, p in states) / total
        np.testing.assert_allclose(continued, [went_on, could], rtol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_likelihoods_are_those_of_all_patterns(name: str) -> None:
    """Probabilities of lists, and of clicks at each rank, are sums over hidden states and patterns."""
    model = fit_click_model(LOG, ClickModelSpec(model=name, resamples=0, iterations=3))
    documents = (3, 1, 2, 0)
    shown = model.parameters.attractiveness[list(documents)]
    probabilities = []
    for clicks in PATTERNS:
        if name in ("cascade", "dcm", "sdbn", "dbn"):
            probabilities.append((clicks, _chain_probability(model, documents, clicks)))
        else:
            examination = np.ones((4, 5))
            for rank in range(4):
                for last in range(rank + 1):
                    theta = model.parameters.examination
                    place = rank * (rank + 1) // 2 + last if name == "ubm" else rank
                    examination[rank, last] = 1.0 if theta is None else theta[place]
            probabilities.append((clicks, browsing_probability(shown, examination, clicks)))
    assert sum(p for _, p in probabilities) == pytest.approx(1.0)
    full = marginals(probabilities, 4)
    for clicks, probability in probabilities:
        log = as_log([Session(0, documents, clicks)])
        found = evaluate_click_model(model, log)
        if probability > 1e-6:
            assert 4 * found.log_likelihood == pytest.approx(np.log(probability))
        expected = [1.0 / max(p if click else 1.0 - p, 1e-6) for p, click in zip(full, clicks, strict=True)]
        np.testing.assert_allclose(found.by_rank[:, 1], expected, rtol=1e-9)


def _chain_probability(model: ClickModel, documents: tuple[int, ...], clicks: tuple[bool, ...]) -> float:
    parameters = model.parameters
    alphas = parameters.attractiveness[list(documents)]
    if parameters.satisfaction is not None:
        gamma = 1.0 if parameters.persistence is None else parameters.persistence
        states = chain_states(alphas, parameters.satisfaction[list(documents)], gamma, clicks)
        return sum((p for _, _, p in states), 0.0)
    # With γ = 1, one minus the continuation after a click is a satisfaction by rank.
    go_on = np.zeros(4) if parameters.continuation is None else parameters.continuation[1:5]
    return sum((p for _, _, p in chain_states(alphas, 1.0 - go_on, 1.0, clicks)), 0.0)


@pytest.mark.parametrize("name", ["pbm", "ubm"])
def test_clicks_at_the_same_rank_are_not_clicks_above(name: str) -> None:
    """Likelihoods of lists with a shared rank are those of all patterns, by the last click above."""
    model = fit_click_model(LOG, ClickModelSpec(model=name, resamples=0, iterations=3))
    documents, ranks = (3, 1, 2, 0), np.array([1, 2, 2, 3], np.int16)
    theta = model.parameters.examination
    assert theta is not None
    probabilities = []
    for clicks in PATTERNS:
        probability = 1.0
        for index, click in enumerate(clicks):
            last = max((r for r, c in zip(ranks, clicks, strict=True) if c and r < ranks[index]), default=0)
            examination = theta[examination_indices(name, 3)[ranks[index], last]]
            p = model.parameters.attractiveness[documents[index]] * examination
            probability *= p if click else 1.0 - p
        probabilities.append((clicks, probability))
    full = marginals(probabilities, 4)
    for clicks, probability in probabilities:
        found = evaluate_click_model(model, replace(as_log([Session(0, documents, clicks)]), ranks=ranks))
        assert 4 * found.log_likelihood == pytest.approx(np.log(probability))
        observed = [p if click else 1.0 - p for p, click in zip(full, clicks, strict=True)]
        expected = [1 / observed[0], (observed[1] * observed[2]) ** -0.5, 1 / observed[3]]
        np.testing.assert_allclose(found.by_rank[:, 1], expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["pbm", "ubm"])
def test_documents_at_one_rank_have_the_same_examination(name: str) -> None:
    """A click beside an impression changes neither its parameter nor those of other ranks."""
    log = as_log([Session(0, (0, 1, 2, 3), (False, True, False, True))])
    lists = QueryBlocks.of(replace(log, ranks=np.array([1, 2, 2, 3], np.int16)), 50)
    indices = examination_indices(name, 3)
    _, by_index = browsing_pass(lists, np.ones(1), indices, np.full(36, 0.5), np.full(indices.max() + 1, 0.5))
    impressions = np.zeros(len(by_index))
    for rank, previous in ((1, 0), (2, 0), (2, 0), (3, 2)):
        impressions[indices[rank, previous]] += 1.0
    assert by_index[:, 1].tolist() == impressions.tolist()


@pytest.mark.parametrize("name", ["pbm", "ubm", "dbn"])
def test_passes_never_lower_the_likelihood(name: str) -> None:
    """With a negligible prior, more passes of EM do not lower the likelihood of the fitted lists."""
    likelihoods = []
    for iterations in (1, 2, 4, 8, 16):
        spec = ClickModelSpec(
            model=name, iterations=iterations, prior_clicks=1e-9, prior_skips=1e-9, resamples=0
        )
        likelihoods.append(evaluate_click_model(fit_click_model(LOG, spec), LOG).log_likelihood)
    assert likelihoods == sorted(likelihoods)
    assert likelihoods[-1] > likelihoods[0] + 0.01


@pytest.mark.parametrize("name", MODELS)
def test_threads_and_copies_do_not_change_a_bit(name: str) -> None:
    """Parameters are the same on one and on two threads, and of read-only arrays."""
    sessions = draw_sessions() * 40
    many = as_log(sessions)
    mapped = as_log(sessions)
    for array in (mapped.pairs, mapped.ranks, mapped.clicks, mapped.list_boundaries):
        array.flags.writeable = False
    spec = ClickModelSpec(model=name, iterations=3, resamples=0)
    one, two = (fit_click_model(log, spec, threads=n) for log, n in ((many, 1), (mapped, 2)))
    use_threads(1)
    assert one.relevance.tobytes() == two.relevance.tobytes()
    assert [v.tobytes() for v in one.shared().values()] == [v.tobytes() for v in two.shared().values()]


@pytest.mark.parametrize("name", MODELS)
def test_weights_count_lists(name: str) -> None:
    """A list of weight 2 counts as two lists, one of weight 0 not at all."""
    sessions = draw_sessions()
    spec = ClickModelSpec(model=name, iterations=5, resamples=0)
    weights = np.ones(len(sessions))
    weights[:10], weights[10:20] = 2.0, 0.0
    weighted = fit_click_model(LOG, spec, weights=weights)
    repeated = fit_click_model(as_log(sessions[:10] * 2 + sessions[20:]), spec)
    np.testing.assert_allclose(weighted.relevance, repeated.relevance, rtol=1e-12)


def test_clicks_over_expected_clicks_sum_over_impressions() -> None:
    """The divisor adds the rate of each impression's rank, and a document may be above 1."""
    sessions = [
        Session(0, (0, 1), (True, False)),
        Session(0, (0, 1), (False, False)),
        Session(0, (1, 0), (False, True)),
    ]
    rates = {1: 1 / 3, 2: 1 / 3}
    model = fit_click_model(as_log(sessions), ClickModelSpec(model="coec", resamples=0))
    assert model.relevance[0] == pytest.approx(2 / (2 * rates[1] + rates[2]))
    assert model.relevance[0] > 1.0
    assert model.relevance[1:3].tolist() == [0.0, 0.0]
    interval = judge_clicks(model, JudgmentSpec(min_impressions=1, shrink=False))
    assert interval.lower[0] <= model.relevance[0] <= interval.upper[0]


@pytest.mark.parametrize("name", ["pbm", "ubm"])
def test_without_impressions_at_rank_1_no_examination_is_relative_to_it(name: str) -> None:
    """Without pseudo-counts, the examination of a rank that was not shown is 0; nothing is divided by it."""
    log = as_log([Session(0, (0, 1), (True, False)), Session(0, (1, 0), (False, True))] * 5)
    log = replace(log, ranks=(log.ranks + 1).astype(np.int16))
    spec = ClickModelSpec(model=name, prior_clicks=0.0, prior_skips=0.0, iterations=5, resamples=2)
    found = fit_click_model(log, spec).to_json()["parameters"]["relative_examination"]
    assert all(np.isfinite([row["value"], row["lower"], row["upper"]]).all() for row in found)


def test_ranks_below_the_greatest_used_one_are_left_out() -> None:
    """Impressions at greater ranks than `max_rank` are left out, and a finding reports that."""
    spec = ClickModelSpec(model="dbn", max_rank=4, iterations=3, resamples=0)
    cut = fit_click_model(LOG, spec)
    short = fit_click_model(
        as_log([Session(s.query, s.documents[:4], s.clicks[:4]) for s in draw_sessions()]), spec
    )
    np.testing.assert_array_equal(cut.relevance, short.relevance)
    assert cut.findings[0] == "Impressions at ranks 5 to 10 are left out because of `max_rank`."
    assert not any("left out" in finding for finding in short.findings)


def test_an_empty_log_is_refused() -> None:
    """Logs without impressions or without clicks, and specifications without iterations, are refused."""
    with pytest.raises(InvalidInput, match="no impressions"):
        fit_click_model(as_log([]))
    skipped = replace(LOG, clicks=np.zeros_like(LOG.clicks))
    for estimate in (fit_click_model, lambda log: compare_click_models(log, ["pbm"])):
        with pytest.raises(InvalidInput, match=r"/click_log_id: has no clicks.*set weights for the actions"):
            estimate(skipped)
    with pytest.raises(InvalidInput, match="iterations: must be at least 1"):
        replace(ClickModelSpec(), iterations=0)
