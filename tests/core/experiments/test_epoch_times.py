"""Times of training epochs, which figure 1 of the 2006 paper shows."""

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.experiments import plan, report
from core.experiments.epoch_times import PairByPair, drawn_weights, epoch_milliseconds, pairs_of
from core.experiments.paper import EpochTiming
from core.losses import make_loss
from core.types import Int64Array

DATASET = synthetic_dataset(4, seed=3, documents_per_query=60, n_features=6)
FEATURES = np.asarray(DATASET.features[np.arange(240)])
QUERIES: Int64Array = np.repeat(np.arange(4), 60)


def test_pairs_are_those_of_different_labels_within_a_query() -> None:
    """Each pair occurs once, with the better document first."""
    found = np.concatenate(list(pairs_of(DATASET.labels, QUERIES)))
    better, worse = DATASET.labels[:, None], DATASET.labels[None, :]
    expected = np.argwhere((better > worse) & (QUERIES[:, None] == QUERIES[None, :]))
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, expected.tolist()))


@pytest.mark.parametrize("hidden", [(), (10,)])
def test_pair_by_pair_descent_has_the_gradient_of_the_loss(hidden: tuple[int, ...]) -> None:
    """The gradient of one weight of the first layer equals a difference of the loss, to 0.1%."""
    descent = PairByPair(drawn_weights(6, hidden))
    pairs = list(pairs_of(DATASET.labels, QUERIES))
    first = descent.weights[0]["weights"]
    found = descent.gradient(FEATURES, pairs)[0]["weights"]

    def loss(change: float) -> float:
        moved = [dict(layer) for layer in descent.weights]
        moved[0]["weights"] = np.asarray(first).copy()
        moved[0]["weights"][2, 0] += change
        units = FEATURES.astype(np.float64)
        for layer in moved[:-1]:
            units = np.tanh(units @ layer["weights"] + layer["bias"])
        scores = (units @ moved[-1]["weights"] + moved[-1]["bias"])[:, 0]
        terms = make_loss("ranknet")(scores, DATASET.labels, DATASET.query_boundaries)
        return float(terms.value.sum())

    assert found[2, 0] == pytest.approx((loss(1e-3) - loss(-1e-3)) / 2e-3, rel=1e-3)


@pytest.mark.parametrize("pair_by_pair", [True, False])
def test_the_time_of_an_epoch_is_positive(pair_by_pair: bool) -> None:
    """Pair by pair and query by query alike, on drawn queries."""
    assert epoch_milliseconds(EpochTiming(pair_by_pair, (10,), 3, 20)) > 0.0


def test_figure_1_is_made_of_times() -> None:
    """Milliseconds, ratios and slopes are of the epochs that were timed, and decide its claims."""
    planned = plan("lambdarank-2006", ["figure-1"])
    assert not planned.runs
    assert len(planned.timings) == len({*planned.timings}) == 22

    def milliseconds(timing: EpochTiming) -> float:
        power, factor = (2.0, 6.0) if timing.pair_by_pair else (1.1, 1.0)
        return float(factor * timing.queries * timing.documents**power)

    (table,) = report(planned, {}, {timing: milliseconds(timing) for timing in planned.timings}).tables
    assert table.cells["V1", "slope, one layer"].ours == pytest.approx(2.0)
    assert table.cells["V2", "slope, two layers"].ours == pytest.approx(1.1)
    assert table.cells["V2", "V1 over V2, two layers"].ours == pytest.approx(6.0 * 26.0**0.9)
    assert {claim.verdict for claim in table.claims} == {"held"}
    (empty,) = report(planned, {}).tables
    assert {cell.missing for cell in empty.cells.values()} == {"not timed yet"}
    assert {claim.verdict for claim in empty.claims} == {"not-shown"}
