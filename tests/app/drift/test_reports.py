"""Drift reports over HTTP, and refused drift jobs."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from core.store import Model, Store
from tests.app.conftest import TestClient

MOMENT = datetime(2026, 1, 5, tzinfo=UTC)


def add_report(store: Store, model: Model, **changed: Any) -> str:
    """Record a report."""
    values: dict[str, Any] = {
        "job_id": "job_1",
        "model_id": model.id,
        "model": model.reference,
        "name": model.name,
        "days": 7.0,
        "since": MOMENT,
        "until": MOMENT,
        "verdict": "none",
        "sentence": "No drift found.",
        "requests": 3,
        "queries": 3,
        "documents": 9,
        "drifted_features": [],
        "thresholds": {"p": 0.01, "psi": 0.2, "missing": 0.1},
        "comparisons": [],
    }
    with store.begin() as tx:
        return tx.drift.add(**{**values, **changed}).id


def test_reports_are_listed_by_model_and_verdict(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """A plain name selects all versions of a model; a reference selects one."""
    first, second, other = add_model("web"), add_model("web"), add_model("ads")
    ids = [add_report(store, model) for model in (first, second, other)]
    drifted = add_report(store, first, verdict="drift", drifted_features=["bm25"])

    def ids_matching(query: str) -> list[str]:
        return [each["id"] for each in client.get(f"/v1/drift-reports{query}").json()["items"]]

    assert ids_matching("") == [drifted, *reversed(ids)]
    assert ids_matching("?model=web") == [drifted, ids[1], ids[0]]
    assert ids_matching("?model=web:2") == [ids[1]]
    assert ids_matching("?verdict=drift") == [drifted]
    assert client.get("/v1/drift-reports?model=unknown").status_code == 404


def test_a_report_is_shown_and_deleted(
    client: TestClient, store: Store, add_model: Callable[[str], Model]
) -> None:
    """A single report includes its comparisons."""
    report_id = add_report(store, add_model("web"))
    shown = client.get(f"/v1/drift-reports/{report_id}").json()
    assert (shown["model"], shown["comparisons"]) == ("web:1", [])
    assert client.delete(f"/v1/drift-reports/{report_id}").status_code == 204
    assert client.get(f"/v1/drift-reports/{report_id}").status_code == 404


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"days": 0}, "/days"),
        ({"thresholds": {"psi": -1}}, "/thresholds/psi"),
        ({"queries_by": "session"}, "/queries_by"),
        ({"metric": "ndcg@5"}, "/metric"),
    ],
)
def test_an_invalid_field_of_a_drift_job_is_refused(
    client: TestClient, add_model: Callable[[str], Model], changed: dict[str, Any], pointer: str
) -> None:
    """422 points at the invalid field."""
    add_model("web")
    answer = client.post("/v1/jobs", json={"kind": "drift", "model": "web", **changed})
    assert answer.status_code == 422, answer.text
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_a_job_is_in_the_project_of_its_model(client: TestClient, add_model: Callable[..., Model]) -> None:
    """The model's project precedes the dataset's, and a project in the request precedes both."""
    model = add_model("web")
    client.patch(f"/v1/datasets/{model.dataset_id}", json={"project": "shared"})
    request = {"kind": "drift", "model": "web"}
    assert client.post("/v1/jobs", json=request).json()["project"] == "shared"
    client.patch("/v1/models/web", json={"project": "search"})
    assert client.post("/v1/jobs", json=request).json()["project"] == "search"
    assert client.post("/v1/jobs", json={**request, "project": "ads"}).json()["project"] == "ads"
