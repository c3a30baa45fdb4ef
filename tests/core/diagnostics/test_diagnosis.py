"""All diagnostics together."""

import tracemalloc
from typing import cast

import numpy as np
import pytest

from core.diagnostics import DIAGNOSTICS, diagnose
from core.diagnostics.jacobian import asymmetry, curvature, indefinite_share, jacobians
from core.losses import LOSSES, Loss, make_loss
from core.losses.base import Terms
from core.metrics import conventions, parse_metric
from core.types import Float64Array, FloatArray, Int64Array

Judged = tuple[Float64Array, Float64Array, Int64Array]


@pytest.fixture(scope="module")
def judged() -> Judged:
    """Forty queries of 2 to 25 documents."""
    generator = np.random.default_rng(6)
    boundaries: Int64Array = np.concatenate(([0], np.cumsum(generator.integers(2, 26, 40))))
    n = int(boundaries[-1])
    return generator.standard_normal(n), generator.integers(0, 4, n).astype(float), boundaries


@pytest.mark.parametrize("name", LOSSES)
def test_a_diagnosis_is_complete_and_no_bound_is_broken(judged: Judged, name: str) -> None:
    """All diagnostics exist for every loss; within one ranking, each loss is the gradient of a cost."""
    found = diagnose(make_loss(name), *judged, cutoff=5)
    assert set(found) == set(DIAGNOSTICS)
    assert found["broken-bounds"] == 0.0
    assert found["asymmetric-jacobians"] == 0.0
    assert found["indefinite-jacobians"] == 0.0
    shares = [found["incoherent-queries"], found["strictly-incoherent-queries"]]
    assert all(share is not None and 0.0 <= share <= 1.0 for share in shares)


def test_lightgbms_normalisation_makes_the_jacobian_asymmetric(judged: Judged) -> None:
    """Burges et al. 2006, equation 5: divided by sums over the query, the λs are no gradient of a cost."""
    found = diagnose(make_loss("lambdarank", normalization="lightgbm"), *judged, cutoff=5)
    assert found["asymmetric-jacobians"] is not None
    assert found["asymmetric-jacobians"] > 0.9  # of two documents it may be symmetric by accident


class _Field:
    """A loss with the gradient (s1 s2, s1), whose Jacobian is ((s2, s1), (1, 0))."""

    def prepare(self, labels: FloatArray, query_boundaries: Int64Array) -> "_Field":
        return self

    def terms(self, scores: FloatArray, iteration: int) -> Terms:
        gradient = np.array([scores[0] * scores[1], scores[0]], np.float64)
        return Terms(np.zeros(1), gradient, np.zeros(2))


@pytest.mark.parametrize("across_ranks", [False, True])
def test_a_known_jacobian_is_measured(across_ranks: bool) -> None:
    """The asymmetry is |s1 − 1| over the largest entry, at any step, since the field is bilinear."""
    field = cast("Loss", _Field())
    judged = (np.array([0.25, 0.26]), np.array([0.0, 1.0]), np.array([0, 2]))
    (jacobian,) = jacobians(field, *judged, across_ranks=across_ranks)
    assert jacobian is not None
    assert asymmetry(jacobian) == pytest.approx(0.75 / 1.0)
    # ((0.26, 0.625), (0.625, 0)) has the eigenvalues 0.13 ± √(0.13² + 0.625²).
    assert curvature(jacobian) == pytest.approx(0.13 - np.hypot(0.13, 0.625), rel=1e-4)


def test_a_cost_that_curves_downwards_is_indefinite() -> None:
    """Burges et al. 2006, section 4: the Jacobian of a convex cost is positive semi-definite."""
    saddle, bowl = np.diag([1.0, -0.5]), np.diag([1.0, 0.0])
    assert indefinite_share([saddle, None, bowl, np.zeros((2, 2))]) == pytest.approx(1 / 3)
    assert indefinite_share([None]) is None


def test_bounds_have_the_terms_of_the_loss(judged: Judged) -> None:
    """NDCGcost by linear gains is another number, and the bounds hold for the loss's own g, D, σ and μ."""
    plain = diagnose(make_loss("ndcg-loss2++"), *judged, cutoff=5)
    own = make_loss("ndcg-loss2++", gain="linear", discount="reciprocal", sigma=2.0, mu=0.5)
    found = diagnose(own, *judged, cutoff=5)
    costs = parse_metric("ndcg-cost", conventions({"gain": "linear", "discount": "reciprocal"}))(*judged)
    assert found["ndcg-cost"] != plain["ndcg-cost"]
    assert found["ndcg-cost"] == pytest.approx(np.nanmean(costs))
    assert found["broken-bounds"] == 0.0


@pytest.mark.parametrize("name", LOSSES)
def test_across_ranks_rank_weighted_losses_are_not_gradients_of_a_cost(judged: Judged, name: str) -> None:
    """Burges et al. 2006, equation 5: across ranks, only losses without rank weights have a cost.

    Some queries are symmetric all the same: documents of one label that swap ranks exchange their gradients.
    """
    rank_weighted = {"lambdarank", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2++"}
    share = diagnose(make_loss(name), *judged, cutoff=5)["asymmetric-across-ranks"]
    assert share is not None
    assert share > 0.8 if name in rank_weighted else share == 0.0


def test_a_large_gap_is_not_stepped_across() -> None:
    """If the step to the next rank is large, there is no Jacobian, since a difference is no derivative."""
    judged = (np.array([0.5, 0.4, 0.1]), np.array([0.0, 1.0, 2.0]), np.array([0, 3]))
    assert jacobians(make_loss("listnet"), *judged, across_ranks=True) == [None]
    (jacobian,) = jacobians(make_loss("listnet"), *judged)
    assert jacobian is not None
    assert asymmetry(jacobian) < 1e-6


def test_samples_have_the_requested_number_of_queries(judged: Judged) -> None:
    """A sample of one query has its NDCGcost; Jacobians use an eighth of the sample, here no query."""
    costs = parse_metric("ndcg-cost")(*judged)
    found = diagnose(make_loss("ranknet"), *judged, cutoff=5, queries=1)
    assert found["ndcg-cost"] in [pytest.approx(cost) for cost in costs]
    assert found["asymmetric-jacobians"] is None
    everything = diagnose(make_loss("ranknet"), *judged, cutoff=5)
    assert everything["ndcg-cost"] == pytest.approx(np.nanmean(costs))


def test_tied_scores_and_long_queries_are_left_out() -> None:
    """Tied scores change ranks at any step, and a long query takes too much time; neither has a Jacobian."""
    loss = make_loss("lambdarank")
    tied = jacobians(loss, np.zeros(3), np.array([0.0, 1.0, 2.0]), np.array([0, 3]))
    long = jacobians(loss, np.arange(101.0), np.arange(101.0) % 3, np.array([0, 101]))
    assert (tied, long) == ([None], [None])


def test_diagnostics_without_relevant_documents_are_none() -> None:
    """Without a relevant document, NDCGcost, bounds and Jacobians are None."""
    found = diagnose(make_loss("lambdarank"), np.array([0.2, 0.1]), np.zeros(2), np.array([0, 2]), cutoff=1)
    assert (found["ndcg-cost"], found["broken-bounds"], found["asymmetric-jacobians"]) == (None, None, None)
    assert found["incoherent-queries"] == 0.0


def test_a_diagnosis_holds_the_matrices_of_one_query_at_a_time() -> None:
    """The pairs of a long list take megabytes, which a sample of 256 lists would multiply."""

    def peak_bytes(queries: int) -> int:
        generator = np.random.default_rng(0)
        boundaries: Int64Array = np.arange(queries + 1) * 200
        n = int(boundaries[-1])
        judged = generator.standard_normal(n), (generator.random(n) < 0.1).astype(float), boundaries
        tracemalloc.start()
        try:
            diagnose(make_loss("lambdarank"), *judged, cutoff=5, queries=queries)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak_bytes(2)  # compiles
    assert peak_bytes(16) < 1.5 * peak_bytes(2)
