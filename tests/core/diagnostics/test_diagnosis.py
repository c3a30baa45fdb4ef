"""Everything that is diagnosed, at once."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest

from core.diagnostics import DIAGNOSTICS, diagnose
from core.diagnostics.jacobian import asymmetries
from core.losses import LOSSES, Loss, make_loss
from core.losses.base import Terms
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
def test_a_diagnosis_names_everything_and_no_bound_is_broken(judged: Judged, name: str) -> None:
    """For every loss; and within one ranking the gradient of every loss is that of a cost."""
    found = diagnose(make_loss(name), *judged, cutoff=5)
    assert set(found) == set(DIAGNOSTICS)
    assert found["broken-bounds"] == 0.0
    assert found["asymmetric-jacobians"] == 0.0
    shares = [found["incoherent-queries"], found["strictly-incoherent-queries"]]
    assert all(share is not None and 0.0 <= share <= 1.0 for share in shares)


def test_lightgbms_normalisation_makes_the_jacobian_asymmetric(judged: Judged) -> None:
    """Burges et al. 2006, equation 5: dividing by sums over the query leaves no cost behind the λs."""
    found = diagnose(make_loss("lambdarank", normalization="lightgbm"), *judged, cutoff=5)
    assert found["asymmetric-jacobians"] is not None
    assert found["asymmetric-jacobians"] > 0.9  # of two documents it may be symmetric by accident


@dataclass(frozen=True)
class _Field:
    """λ = (s1 s2, s1), whose Jacobian is ((s2, s1), (1, 0))."""

    def __call__(
        self, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array, iteration: int = 0
    ) -> Terms:
        gradient = np.array([scores[0] * scores[1], scores[0]], np.float64)
        return Terms(np.zeros(1), gradient, np.zeros(2))


def test_a_known_jacobian_is_measured() -> None:
    """Its asymmetry is |s1 − 1| over its largest entry."""
    field = cast("Loss", _Field())
    found = asymmetries(field, np.array([0.25, 0.5]), np.array([0.0, 1.0]), np.array([0, 2]))
    assert found[0] == pytest.approx(0.75 / 1.0)


def test_tied_scores_and_long_queries_are_left_out() -> None:
    """A step would change ranks, or cost too much."""
    loss = make_loss("lambdarank")
    tied = asymmetries(loss, np.zeros(3), np.array([0.0, 1.0, 2.0]), np.array([0, 3]))
    long = asymmetries(loss, np.arange(50.0), np.arange(50.0) % 3, np.array([0, 50]))
    assert np.isnan([tied[0], long[0]]).all()


def test_what_cannot_be_looked_at_is_none() -> None:
    """Without a relevant document there is no bound and no sample."""
    found = diagnose(make_loss("lambdarank"), np.array([0.2, 0.1]), np.zeros(2), np.array([0, 2]), cutoff=1)
    assert (found["ndcg-cost"], found["broken-bounds"], found["asymmetric-jacobians"]) == (None, None, None)
    assert found["incoherent-queries"] == 0.0
