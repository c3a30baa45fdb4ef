"""Linear scorers and networks over HTTP."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.scorers import Member, Sum, write_network
from core.scorers.gradients import TOLERANCE
from core.store import Model, Store
from tests.app.conftest import FEATURE_NAMES, TestClient
from tests.core.scorers.networks import random_features, random_network
from tests.core.scoring.forests import random_model_text

Add = Callable[..., Model]


def test_a_network_is_shown_with_its_kind_and_scorer(
    client: TestClient, add_network: Add, add_model: Add
) -> None:
    """Trees have a kind but no scorer; the best iteration of a network is an epoch."""
    scorer = {"kind": "mlp", "hidden": [4], "activation": "relu"}
    add_network("net", random_network(3, (4,)), scorer)
    add_network("line", random_network(3))
    add_model("web")
    shown = client.get("/v1/models/net").json()
    assert (shown["kind"], shown["scorer"], shown["best_iteration"]) == ("mlp", scorer, 7)
    kinds = {item["name"]: item["kind"] for item in client.get("/v1/models?fields=name,kind").json()["items"]}
    assert kinds == {"net": "mlp", "line": "linear", "web": "trees"}
    assert client.get("/v1/models/web").json()["scorer"] is None
    for kind, names in {"trees": ["web"], "linear": ["line"], "mlp": ["net"], "sum": []}.items():
        items = client.get("/v1/models", params={"kind": kind}).json()["items"]
        assert [item["name"] for item in items] == names
    assert client.get("/v1/models?kind=forest").status_code == 422


@pytest.mark.parametrize("hidden", [(), (4,)])
@pytest.mark.parametrize("path", ["importance", "trees/0"])
def test_inspections_of_trees_are_refused_for_networks(
    client: TestClient, add_network: Add, hidden: tuple[int, ...], path: str
) -> None:
    """409 names the kind of the model and proposes an inspection, which measures importance of any model."""
    model = add_network("net", random_network(3, hidden))
    answer = client.get(f"/v1/models/net/{path}")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/wrong-state")
    assert f"model net:1 is of the kind {model.kind}" in answer.json()["detail"]
    assert '"kind": "inspect"' in answer.json()["detail"]


def _body(features: np.ndarray[Any, Any], **members: Any) -> dict[str, Any]:
    documents = [
        {"id": str(index), "features": [float(value) if np.isfinite(value) else None for value in row]}
        for index, row in enumerate(features)
    ]
    return {"queries": [{"id": "q", "documents": documents}], **members}


def test_a_network_ranks_and_explains(client: TestClient, add_network: Add) -> None:
    """Scores are the network's bit for bit, and contributions add up to them."""
    network = random_network(3, (12, 5), missing_indicators=True)
    add_network("net", network)
    features = random_features(20, 3, seed=3)
    scores = network.score(features)
    (query,) = client.post("/v1/models/net/rank", json=_body(features, explain=True)).json()["queries"]
    assert [document["score"] for document in query["ranking"]] == sorted(scores.tolist(), reverse=True)
    reach = np.abs(scores).max() + 10
    for document in query["ranking"]:
        assert document["score"] == scores[int(document["id"])]
        explanation = document["explanation"]
        added = sum(part["contribution"] for part in explanation["contributions"])
        assert explanation["base"] + added == pytest.approx(document["score"], abs=TOLERANCE * reach)
        assert {part["feature"] for part in explanation["contributions"]} <= set(FEATURE_NAMES)


def test_a_sum_ranks_and_explains(client: TestClient, add_network: Add) -> None:
    """Contributions of the members are weighted and added per feature, and add up to the score."""
    line = random_network(2, missing_indicators=True)
    trees = random_model_text(np.random.default_rng(1), 3, n_trees=5, max_leaves=8, categorical=False)
    members = [
        Member("web:1", trees.encode(), tuple(FEATURE_NAMES), 0.25),
        Member("line:1", write_network(line), tuple(FEATURE_NAMES[:0:-1]), -2.0),
    ]
    model = Sum.of(members)
    add_network("both", model)
    features = random_features(20, 3, seed=3)
    features[np.isinf(features)] = np.nan
    (query,) = client.post("/v1/models/both/rank", json=_body(features, explain=True)).json()["queries"]
    scores = model.score(features)
    for document in query["ranking"]:
        assert document["score"] == scores[int(document["id"])]
        explanation = document["explanation"]
        parts = {part["feature"]: part["contribution"] for part in explanation["contributions"]}
        assert explanation["base"] + sum(parts.values()) == pytest.approx(document["score"], abs=1e-9)
        assert {part for part, value in parts.items() if value} - {"bm25"}


def test_a_missing_value_is_explained_by_its_feature(client: TestClient, add_network: Add) -> None:
    """The contribution of a missing-value indicator is added to its feature, whose value is null."""
    network = random_network(3, missing_indicators=True)
    add_network("net", network)
    row = np.array([[np.nan, 1.0, 1.0]])
    (query,) = client.post("/v1/models/net/rank", json=_body(row, explain=True)).json()["queries"]
    parts = {part["feature"]: part for part in query["ranking"][0]["explanation"]["contributions"]}
    weight = float(network.layers[0].weights[3, 0])
    assert (parts["bm25"]["value"], parts["bm25"]["contribution"]) == (None, weight)


def test_the_inference_protocol_names_the_platform(
    client: TestClient, add_network: Add, add_model: Add
) -> None:
    """The platform distinguishes forests from networks; requests to score them are the same."""
    network = random_network(3, (4,))
    add_network("net", network)
    add_model("web")
    platforms = {name: client.get(f"/v2/models/{name}").json()["platform"] for name in ("net", "web")}
    assert platforms == {"net": "rankery_network", "web": "rankery_forest"}
    data = random_features(4, 3, missing=0).tolist()
    tensor = {"name": "features", "shape": [4, 3], "datatype": "FP32", "data": data}
    answer = client.post("/v2/models/net/infer", json={"inputs": [tensor]}).json()
    assert answer["outputs"][0]["data"] == network.score(np.array(data)).tolist()


def test_datasets_fit_a_network_by_the_features_that_it_uses(
    client: TestClient, add_network: Add, store: Store
) -> None:
    """A dataset may lack features whose weights are all 0, like features without splits of trees."""
    network = random_network(3, (4,))
    network.layers[0].weights[1:] = 0
    add_network("net", network)
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "upload"})
        sizes = {"queries": 3, "documents": 9, "features": 1}
        tx.datasets.mark_ready(dataset.id, statistics=sizes, feature_names=["bm25"], digest="d1")
    items = client.get("/v1/datasets?for=net:1").json()["items"]
    (fit,) = [item["fit"] for item in items if item["id"] == dataset.id]
    assert (fit["fits"], fit["reason"]) == (True, None)
