"""Imported models whose trees are so deep that LightGBM's explanations overflow its stack or heap."""

import pytest

from tests.core.scoring.forests import chain_model_text
from tests.security.target import Target


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_leaves", "n_features"),
    [
        ("slow", 1_000, 1_000),
        ("deep", 131_072, 4),  # LightGBM's recursion overflows the stack
        ("wide", 65_536, 65_535),  # the size of its paths overflows an int
    ],
)
def test_an_imported_chain_cannot_end_the_service(
    target: Target, name: str, n_leaves: int, n_features: int
) -> None:
    """The model is imported and scores; a request to explain it is refused with the limit."""
    content = chain_model_text(n_leaves, n_features).encode()
    with target.client() as http:
        sent = http.post("/v1/models", files={"file": ("m.txt", content)}, data={"name": name})
        assert sent.status_code == 202, sent.text
        job = target.wait_for_end(sent.json()["id"])
        assert job["status"] == "succeeded", job
        query = {"id": "q", "documents": [{"id": "d", "features": {"f0": 1.0}}]}
        ranked = http.post(f"/v1/models/{name}/rank", json={"queries": [query]})
        assert ranked.status_code == 200, ranked.text
        refused = http.post(f"/v1/models/{name}/rank", json={"queries": [query], "explain": True})
        assert refused.status_code == 422
        assert refused.json()["type"] == "/problems/unfit-model"
        assert f"a depth of {n_leaves - 1:,}" in refused.json()["detail"]
        assert http.get(f"/v1/models/{name}").json()["explanation"]["problem"] == refused.json()["detail"]
        assert http.get("/healthz").status_code == 200
