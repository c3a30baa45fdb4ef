"""Explained scores."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.settings import ApiSettings
from core.errors import ModelError
from core.scoring import Explainability, Forest, TreeExplainer
from core.scoring.limits import MAX_DEPTH
from core.scoring.model_text import ModelText
from core.store import Model
from tests.app.conftest import TestClient
from tests.core.scoring.forests import chain_model_text, random_model_text


def test_contributions_add_up_to_the_score(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Only returned documents are explained, and a contribution has the feature's value."""
    add_model("web")
    documents = [{"id": str(i), "features": {"bm25": i / 9, "age/days": 3}} for i in range(9)]
    body = {"queries": [{"id": "q", "documents": documents}], "top_k": 4, "explain": True}
    ranking = client.post("/v1/models/web/rank", json=body).json()["queries"][0]["ranking"]
    assert len(ranking) == 4
    for document in ranking:
        explanation = document["explanation"]
        added = sum(part["contribution"] for part in explanation["contributions"])
        assert explanation["base"] + added == pytest.approx(document["score"], abs=1e-12)
        (only,) = explanation["contributions"]  # no tree splits on the others
        assert (only["feature"], only["value"]) == ("bm25", pytest.approx(int(document["id"]) / 9, rel=1e-6))
    assert "explanation" not in client.post("/v1/models/web/rank", json=body | {"explain": False}).text


@pytest.fixture
def settings(settings: ApiSettings) -> ApiSettings:
    """Settings with limits that a small request exceeds."""
    return settings.model_copy(update={"max_explained_documents": 5, "max_explained_steps": 400})


def test_too_many_explanations_are_refused(client: TestClient, add_model: Callable[[str], Model]) -> None:
    """Explanations take a thousand times as long as scores; a smaller `top_k` makes the request valid."""
    add_model("web")
    documents = [{"id": str(i), "features": {}} for i in range(6)]
    body: dict[str, Any] = {"queries": [{"id": "q", "documents": documents}], "explain": True}
    response = client.post("/v1/models/web/rank", json=body)
    assert response.status_code == 422
    assert "at most 5 scores can be explained in one request, not 6" in response.json()["detail"]
    assert client.post("/v1/models/web/rank", json=body | {"top_k": 5}).status_code == 200


def test_explanations_that_take_too_many_steps_are_refused(
    client: TestClient, add_model: Callable[..., Model]
) -> None:
    """The steps depend on the trees: 10 leaves on 3 features take 1 + 4 + 9 + 8 · 16 steps a score."""
    documents = [{"id": str(i), "features": {}} for i in range(5)]
    body: dict[str, Any] = {"queries": [{"id": "q", "documents": documents}], "explain": True}
    affordable = {"light": 400 // 142, "heavy": 0}
    for name, n_leaves in {"light": 10, "heavy": 100}.items():
        add_model(name, text=chain_model_text(n_leaves, 3))
        response = client.post(f"/v1/models/{name}/rank", json=body)
        assert response.status_code == 422
        assert f"enough for {affordable[name]} scores, not 5" in response.json()["detail"]
    assert client.post("/v1/models/light/rank", json=body | {"top_k": 2}).status_code == 200
    assert client.post("/v1/models/heavy/rank", json=body | {"top_k": 1}).status_code == 422


def test_steps_are_the_sum_of_squared_path_lengths() -> None:
    """A feature counts once on a path; paths to the leaves of a chain have lengths 1, 2, …, n - 1, n - 1."""
    for n_leaves, n_features in ((10, 10), (10, 4), (MAX_DEPTH + 1, 7)):
        lengths = [min(depth, n_features) for depth in [*range(1, n_leaves), n_leaves - 1]]
        explainability = Explainability.of(ModelText.read(chain_model_text(n_leaves, n_features)))
        assert explainability == Explainability(None, 1 + sum((length + 1) ** 2 for length in lengths))


def test_a_chain_as_deep_as_allowed_is_explained() -> None:
    """A tree with one more level is refused, even if a score would take few steps."""
    features = np.random.default_rng(1).normal(size=(5, 3))
    text = chain_model_text(MAX_DEPTH + 1, 3)
    base, added = TreeExplainer(ModelText.read(text)).explain(features)
    scores = Forest.parse(text).score(features)
    np.testing.assert_allclose(base + added.sum(axis=1), scores, rtol=1e-9, atol=1e-12)
    with pytest.raises(ModelError, match=r"a depth of 301; scores can be explained up to a depth of 300"):
        TreeExplainer(ModelText.read(chain_model_text(MAX_DEPTH + 2, 3)))


@pytest.mark.parametrize("seed", range(5))
def test_contributions_add_up_for_any_forest(seed: int) -> None:
    """Forests have categories and every treatment of missing values."""
    random = np.random.default_rng(seed)
    text = random_model_text(random, 4, 10, 12)
    features = random.normal(size=(20, 4)).round(1)
    features[::3, 1] = np.nan
    base, added = TreeExplainer(ModelText.read(text)).explain(features)
    np.testing.assert_allclose(
        base + added.sum(axis=1), Forest.parse(text).score(features), rtol=1e-9, atol=1e-9
    )
    assert TreeExplainer(ModelText.read(text)).explain(features[:0])[1].shape == (0, 4)


def test_models_that_cannot_be_explained_are_refused() -> None:
    """Trees with linear leaves, and model texts without the document counts of leaves, are refused."""
    random = np.random.default_rng(0)
    with pytest.raises(ModelError, match="linear"):
        TreeExplainer(ModelText.read(random_model_text(random, 2, 5, 8, linear=True)))
    counted = random_model_text(random, 2, 5, 8)
    uncounted = "\n".join(line for line in counted.split("\n") if "_count=" not in line)
    with pytest.raises(ModelError, match="no document counts"):
        TreeExplainer(ModelText.read(uncounted))
