"""Drift through the whole service: requests are scored over HTTP, stored, and examined by a worker."""

from typing import Any

import numpy as np
import pytest

from core.store import Store, StoreSettings
from core.store.clock import utc_now
from rankery.client import Client
from rankery.client.views.inspection import DriftReportView
from tests.integration.requests import not_none
from tests.integration.waiting import LIMIT_SECONDS, wait_for
from tests.servers.fixtures import ServicePlaces

QUERIES, DOCUMENTS = 80, 6


def requests_of(features: Any, shift: float) -> list[dict[str, Any]]:
    """Return scoring requests of one query each, whose first feature is shifted."""
    moved = features.copy()
    moved[..., 0] += shift
    return [
        {
            "queries": [
                {
                    "id": f"q{number}",
                    "documents": [{"id": str(i), "features": row} for i, row in enumerate(rows)],
                }
            ]
        }
        for number, rows in enumerate(moved.tolist())
    ]


@pytest.mark.slow
@pytest.mark.embedded
def test_a_shift_of_scored_requests_is_found(client: Client, service_places: ServicePlaces) -> None:
    """Requests like the training data have no drift; later ones have drift of the shifted feature."""
    trained_on = client.synthetic_dataset(60, seed=1).wait(timeout_seconds=LIMIT_SECONDS)
    training = client.train("drifting", trained_on, "lambdarank", hyperparameters={"num_iterations": 5})
    model = training.wait(timeout_seconds=LIMIT_SECONDS).model()
    # Uniform from -1 to 1, as synthetic features are.
    shape = (QUERIES, DOCUMENTS, len(model.feature_names))
    like_training = np.random.default_rng(1).uniform(-1, 1, shape)
    store = Store.open(StoreSettings(data_dir=service_places.data_dir))

    def stored_requests() -> int:
        with store.read() as tx:
            rows = tx.drift.samples_between(training.created_at, utc_now(), model.name)
            return sum(row.requests for row in rows)

    def report_after_scoring(shift: float, requests: int) -> DriftReportView:
        for request in requests_of(like_training, shift):
            client.request("POST", f"/v1/models/{model.id}/rank", json=request)
        wait_for(lambda: stored_requests() >= requests)
        ended = client.drift(model, days=1).wait(timeout_seconds=LIMIT_SECONDS)
        return client.drift_report(not_none(ended.result)["drift_report_id"])

    unshifted = report_after_scoring(0.0, QUERIES)
    assert (unshifted.requests, unshifted.queries) == (QUERIES, QUERIES)
    assert unshifted.verdict == "none", unshifted.sentence
    shifted = report_after_scoring(1.2, 2 * QUERIES)
    store.close()
    assert shifted.verdict == "drift"
    assert shifted.drifted_features[0] == model.feature_names[0]
    (with_training, with_previous) = shifted.comparisons
    assert with_previous.verdict == "too_few"
    drifted = [each.name for each in with_training.features if each.verdict == "drift"]
    assert drifted == [model.feature_names[0]]
    assert [each.id for each in client.drift_reports("drifting", verdict="drift")] == [shifted.id]
    assert shifted.id in [event.object.id for event in client.past_events(kinds="drift.found")]
