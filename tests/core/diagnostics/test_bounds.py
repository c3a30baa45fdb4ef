"""The theorems of the papers on thousands of random queries, and where they fail as printed."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from core.diagnostics import BOUNDS, RankedQuery
from core.diagnostics.essential_loss import essential_loss, gain_weights
from core.diagnostics.lambdaloss_bounds import arp, ndcg_cost, ndcg_loss2_bounds_ndcg_cost
from core.diagnostics.ranked_query import BoundTerms, log2_logistic
from core.diagnostics.softmax_bounds import softmax_bounds_ndcg
from core.losses import make_loss
from core.metrics import conventions, parse_metric
from core.types import Float64Array
from tests.examples import examples

N_QUERIES = examples(10_000)


@cache
def _queries() -> list[RankedQuery]:
    """Return queries of 1 to 14 documents and 2 to 5 grades with a relevant one; a fifth have tied scores."""
    generator = np.random.default_rng(2009)
    queries = []
    for number in range(N_QUERIES):
        n = int(generator.integers(1, 15))
        labels = generator.integers(0, generator.integers(2, 6), n).astype(float)
        if labels.max() == 0:
            labels[generator.integers(n)] = 1.0
        scores = generator.standard_normal(n) * 10 ** generator.uniform(-2, 1)
        queries.append(RankedQuery.of(np.round(scores) if number % 5 == 0 else scores, labels))
    return queries


@pytest.mark.long
@pytest.mark.parametrize("name", BOUNDS)
def test_the_lower_side_is_at_most_the_upper_side(name: str) -> None:
    """On every query, the lower side of the bound is at most the upper side."""
    sides = np.array([BOUNDS[name].sides(query) for query in _queries()])
    assert np.isfinite(sides).all()
    excess = (sides[:, 0] - sides[:, 1]) / np.maximum(1.0, sides[:, 1])
    assert excess.max() <= 1e-9, (BOUNDS[name].source, _queries()[int(excess.argmax())])


TERMS = (
    BoundTerms(sigma=3.0, gain="linear", mu=0.5),
    BoundTerms(sigma=0.2, gain=(0.0, 1.0, 5.0, 6.0, 20.0), discount="reciprocal", mu=20.0),
)


@pytest.mark.parametrize("terms", TERMS)
def test_the_bounds_hold_for_the_terms_of_any_loss(terms: BoundTerms) -> None:
    """Bounds hold for other gains that rise with the label, both discounts, and other σ and μ."""
    queries = [RankedQuery.of(query.scores, query.labels, terms) for query in _queries()[:300]]
    for name, bound in BOUNDS.items():
        sides = np.array([bound.sides(query) for query in queries])
        assert (sides[:, 0] <= sides[:, 1] * (1 + 1e-9) + 1e-9).all(), name


def test_the_bound_of_ndcg_loss2pp_has_the_mu_of_the_loss() -> None:
    """Wang et al. 2018, equation 19: the bound is the loss over ln 2, with its σ and μ, plus constants."""
    loss = make_loss("ndcg-loss2++", sigma=3.0, gain="linear", mu=0.5)
    scores, labels = np.array([0.3, 0.2, 0.0]), np.array([0.0, 2.0, 1.0])
    trained = loss(scores, labels, np.array([0, 3])).value[0] / np.log(2)
    query = RankedQuery.of(scores, labels, BoundTerms.of(loss))
    query_mu_plus_1 = RankedQuery.of(scores, labels, replace(query.terms, mu=1.5))
    loss_mu_plus_1 = make_loss("ndcg-loss2++", sigma=3.0, gain="linear", mu=1.5)
    trained_mu_plus_1 = loss_mu_plus_1(scores, labels, np.array([0, 3])).value[0] / np.log(2)
    # The bound is that of NDCG-Loss2 times μ, plus terms without μ.
    increase = BOUNDS["ndcg-loss2++"].sides(query_mu_plus_1)[1] - BOUNDS["ndcg-loss2++"].sides(query)[1]
    assert increase == pytest.approx(BOUNDS["ndcg-loss2"].sides(query)[1])
    assert trained_mu_plus_1 - trained == pytest.approx(increase - _constants(query), abs=1e-9)


def _constants(query: RankedQuery) -> float:
    """Return C2 + C3 of NDCG-Loss2: ½ Σ δ_ij min(G_i, G_j)."""
    inverse = 1.0 / query.discounts
    total = 0.0
    for i, j in itertools.permutations(range(len(query)), 2):
        distance = abs(i - j)
        total += (inverse[distance - 1] - inverse[distance]) * min(query.gains[i], query.gains[j]) / 2
    return total


def test_theorem_1_of_2019_is_theorem_2_with_one_relevant_document() -> None:
    """Bruch et al. 2019, theorem 1: with one relevant document of rank r, 1/r is at least its softmax."""
    for query in _queries():
        if query.relevant.sum() == 1:
            rank = int(query.relevant.argmax()) + 1
            softmax = np.exp(query.scores[rank - 1] - np.logaddexp.reduce(query.scores))
            lower, upper = BOUNDS["softmax-rr"].sides(query)
            assert lower == pytest.approx(np.log(rank))
            assert upper == pytest.approx(-np.log(softmax))
            assert 1 / rank >= softmax * (1 - 1e-12)


def test_the_essential_loss_is_the_least_over_all_consistent_permutations() -> None:
    """Chen et al. 2009, equation 7, by enumeration."""
    for query in _queries()[:400]:
        if len(query) > 6:
            continue
        for weights in (gain_weights(query), np.ones(len(query))):
            least = min(
                _loss_of(query, permutation, weights)
                for permutation in itertools.permutations(range(len(query)))
                if (np.diff(query.labels[list(permutation)]) <= 0).all()
            )
            assert essential_loss(query, weights) == pytest.approx(least)


def _loss_of(query: RankedQuery, permutation: tuple[int, ...], weights: Float64Array) -> float:
    """Return the loss of equation 6; documents are named by their ranks, from 0."""
    return sum(
        float(weights[step])
        for step in range(len(permutation) - 1)
        if min(permutation[step + 1 :]) < permutation[step]
    )


def test_the_essential_loss_is_zero_for_consistent_rankings_alone() -> None:
    """Chen et al. 2009, section 3.1: for consistent rankings, 1 − NDCG and 1 − MAP are zero as well."""
    for query in _queries():
        consistent = bool((np.diff(query.labels) <= 0).all())
        assert (essential_loss(query, np.ones(len(query))) == 0.0) == consistent
        if consistent:
            assert query.ndcg == pytest.approx(1.0)
            assert query.average_precision == pytest.approx(1.0)


def test_the_losses_of_the_bounds_are_those_that_are_trained() -> None:
    """Without constants, NDCG-Loss2 in bits is the loss in nats over ln 2; softmax is the listnet loss."""
    for query in _queries()[:200]:
        boundaries = np.array([0, len(query)])
        trained = make_loss("ndcg-loss2")(query.scores, query.labels, boundaries).value[0] / np.log(2)
        shifted = RankedQuery(query.scores - 50 * np.arange(len(query)), query.labels)
        constants = ndcg_loss2_bounds_ndcg_cost(shifted)[1] - _loss2(shifted)
        assert ndcg_loss2_bounds_ndcg_cost(query)[1] - constants == pytest.approx(trained, abs=1e-6)
        softmax = make_loss("listnet")(query.scores, query.relevant, boundaries).value[0]
        assert softmax_bounds_ndcg(query)[1] == pytest.approx(softmax, abs=1e-6)


def test_mse_bounds_the_error_of_ndcg_only_with_linear_gains() -> None:
    """Chen et al. 2009, section 2.3, use labels as gains. With gains of 2^y − 1 the bound fails."""

    def sides(scores: Float64Array, labels: Float64Array, gain: str) -> tuple[float, float]:
        boundaries = np.array([0, len(labels)])
        ndcg = parse_metric("ndcg", conventions({"gain": gain}))(scores, labels, boundaries)[0]
        discounts = 1.0 / np.log2(1.0 + np.arange(1, len(labels) + 1))
        gained = 2.0**labels - 1.0 if gain == "exp2" else labels
        ideal = (np.sort(gained)[::-1] * discounts).sum()
        squares = 2.0 * make_loss("mse")(scores, labels, boundaries).value[0]
        return 1.0 - ndcg, float(np.sqrt(2.0 * (discounts**2).sum() * squares) / ideal)

    for query in _queries()[:2000]:
        lower, upper = sides(query.scores, query.labels, "linear")
        assert lower <= upper + 1e-9
    lower, upper = sides(np.array([3.49, 3.5]), np.array([4.0, 3.0]), "exp2")
    assert (round(lower, 2), round(upper, 2)) == (0.15, 0.06)


def _loss2(query: RankedQuery) -> float:
    boundaries = np.array([0, len(query)])
    return float(make_loss("ndcg-loss2")(query.scores, query.labels, boundaries).value[0] / np.log(2))


def test_as_printed_ndcg_loss2_alone_does_not_bound_ndcg_cost() -> None:
    """Wang et al. 2018, equation 16, drops C2 and C3 as constants of the M-step; the bound needs them.

    Two documents of label 1: NDCG-Loss2 has no pair and is 0, NDCGcost is G(1 − 1/log2 3).
    """
    query = RankedQuery.of(np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    assert _loss2(query) == 0.0
    assert ndcg_cost(query) > 0.2


def test_as_printed_the_constant_of_arp_loss2_counts_each_document_with_itself() -> None:
    """Wang et al. 2018, section 5.1: ARP − C1 = … + C2 is off by ½ Σ y_i where C2 includes j = i.

    One document of label 2: ARP − C1 = 2 − 2 = 0, C2 as printed = 1. The bound still holds, less tightly.
    """
    query = RankedQuery.of(np.array([0.0]), np.array([2.0]))
    printed = 0.5 * query.labels.sum()
    assert arp(query) - query.labels.sum() == 0.0
    assert printed == 1.0
    assert BOUNDS["arp-loss2"].sides(query) == (2.0, 2.0)


def test_as_printed_ranknet_needs_the_logarithm_to_base_two() -> None:
    """Chen et al. 2009, theorem 2: its proof takes φ(0) = 1, which ln(1 + e^−z) does not have.

    Two documents in the wrong order, their scores 0.1 apart: L_β with β = 1 is 1, the natural loss is 0.744.
    """
    query = RankedQuery.of(np.array([0.1, 0.0]), np.array([0.0, 1.0]))
    natural = float((query.preferred * np.logaddexp(0.0, -query.differences)).sum())
    assert essential_loss(query, np.ones(2)) == 1.0
    assert natural < 1.0 < float((query.preferred * log2_logistic(query.differences)).sum())


def test_on_graded_labels_the_proof_for_softmax_fails_but_not_the_bound() -> None:
    """Bruch et al. 2019, section 4, notes that their bound does not hold for graded labels.

    Equation 11 fails at one document of label 2: its DCG of 3 exceeds the labels' sum. Yet −ln NDCG stays
    below the least cross entropy of a ranking, for all rankings of two to four labels from 0 to 5. The two
    are nearest where a document of label 0 ranks above one of label 2.
    """
    assert RankedQuery(np.zeros(1), np.array([2.0])).max_dcg == 3.0
    nearness = {
        labels: -np.log(RankedQuery(np.zeros(len(labels)), np.array(labels)).ndcg) / least
        for n in range(2, 5)
        for labels in itertools.product(map(float, range(6)), repeat=n)
        if any(labels) and (least := _min_softmax_loss(labels)) > 0.0
    }
    assert max(nearness.values()) == pytest.approx(nearness[0.0, 2.0])
    assert nearness[0.0, 2.0] == pytest.approx(np.log(np.log2(3.0)) / np.log(2.0))


def _min_softmax_loss(labels: tuple[float, ...]) -> float:
    """Return the cross entropy at the best scores that do not rise in this order, by isotonic regression."""
    target = np.array(labels) / sum(labels)
    softmax = isotonic_regression(target, increasing=False).x
    is_positive = target > 0.0
    return float(-(target[is_positive] * np.log(softmax[is_positive])).sum())
