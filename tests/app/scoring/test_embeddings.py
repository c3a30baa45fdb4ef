"""Embeddings in scoring requests: a list for all features of a block."""

import json
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import pyarrow as pa
import pytest

from app.scoring.json_reader import fast_candidates
from app.scoring.served_models import _load_warm
from app.settings import ApiSettings
from core.store import Model, Store
from core.types import Float64Array
from tests.app.conftest import TestClient
from tests.app.scoring.conftest import arrow_stream, rank_rows, rank_stream, scores_by_row

NAMES = ("bm25", "emb.0", "emb.1", "emb.2", "price")
PLACE = "/queries/0/documents/0/features"
# Values of each document: bm25, embedding and price; None is a missing value.
DOCUMENTS: list[tuple[float | None, list[float | None] | None, float | None]] = [
    (0.5, [0.1, -0.2, 0.3], 7),
    (None, [0.5, None, -1.5], 2),
    (0.1, None, 40),
    (0.9, [2, 1e-3, -1], None),
    (-0.3, [None, None, None], 5.5),
]


def _model_text() -> str:
    random = np.random.default_rng(0)
    features = random.normal(size=(2000, len(NAMES)))
    features[random.random(features.shape) < 0.2] = np.nan
    target = np.nansum(features * [1, 2, -3, 0.5, 0.1], 1) + np.isnan(features) @ [0.5, 1, 2, 3, 4]
    parameters = {"objective": "regression", "verbosity": -1, "num_threads": 1}
    return lightgbm.train(
        parameters, lightgbm.Dataset(features, target), num_boost_round=20
    ).model_to_string()


MODEL_TEXT = _model_text()


@pytest.fixture
def model(add_model: Callable[..., Model]) -> Model:
    """A model with a block of three features."""
    return add_model("web", text=MODEL_TEXT, feature_names=NAMES)


@pytest.fixture
def scores(model: Model) -> Float64Array:
    """Scores of `DOCUMENTS` by LightGBM's Booster."""
    rows = [[bm25, *(embedding or [None] * 3), price] for bm25, embedding, price in DOCUMENTS]
    matrix = np.array(rows, np.float64).astype(np.float32)
    return np.asarray(lightgbm.Booster(model_str=MODEL_TEXT).predict(matrix, raw_score=True))


def _by_name(bm25: float | None, embedding: Any, price: float | None) -> dict[str, Any]:
    features = {"bm25": bm25, "emb": embedding, "price": price}
    return {name: value for name, value in features.items() if value is not None}


def test_the_model_uses_all_features(scores: Float64Array) -> None:
    """The documents have different scores, so that a value in a wrong place is seen."""
    assert len(set(scores.tolist())) == len(DOCUMENTS)


def test_a_list_gives_all_features_of_a_block(client: TestClient, scores: Float64Array) -> None:
    """Scores equal those of single features; null in the list, or instead of it, is a missing value."""
    assert scores_by_row(rank_rows(client, [_by_name(*row) for row in DOCUMENTS])) == scores.tolist()
    with_nulls = [{"emb": embedding, "bm25": bm25, "price": price} for bm25, embedding, price in DOCUMENTS]
    assert scores_by_row(rank_rows(client, with_nulls)) == scores.tolist()
    one_by_one = [
        _by_name(bm25, None, price) | {f"emb.{number}": one for number, one in enumerate(embedding or ())}
        for bm25, embedding, price in DOCUMENTS
    ]
    assert scores_by_row(rank_rows(client, one_by_one)) == scores.tolist()


def test_lists_are_read_on_the_fast_path(store: Store, model: Model) -> None:
    """The fast path reads lists, since the slow path would take long for thousands of numbers."""
    documents = [{"id": "d", "features": {"price": 1, "emb": [0.5, None, 2]}}]
    content = json.dumps({"queries": [{"id": "q", "documents": documents}]}).encode()
    candidates = fast_candidates(content, _load_warm(store, model), ApiSettings())
    assert candidates is not None
    np.testing.assert_array_equal(candidates.features, np.array([[np.nan, 0.5, np.nan, 2, 1]], np.float32))


@pytest.mark.parametrize(
    ("features", "pointer", "detail"),
    [
        ({"emb": [1, 2]}, "/emb", "has 2 values; the block has 3 features"),
        ({"emb": []}, "/emb", "has 0 values; the block has 3 features"),
        ({"emb": [1, 2, 3, 4]}, "/emb", "has 4 values; the block has 3 features"),
        ({"emb": 1}, "/emb", "must be a list of 3 numbers, one for each feature of the block"),
        ({"emb": "x"}, "/emb", "must be a list of 3 numbers, one for each feature of the block"),
        ({"title": [1, 2, 3]}, "/title", "not a feature of this model"),
        ({"bm25": [1]}, "/bm25", "must be a number; a list is only for a block of features"),
        ({"emb.0": [1]}, "/emb.0", "must be a number; a list is only for a block of features"),
        ({"emb": [1, 1e39, 3]}, "/emb/1", "is beyond the range of float32"),
        ({"emb": [1, 2, 3], "emb.1": 2}, "/emb.1", "is also given by 'emb'"),
        ({"emb.1": None, "emb": [1, 2, 3]}, "/emb.1", "is also given by 'emb'"),
        ({"emb": [1, "2", 3]}, "/emb", "must be a finite number, the text of a category, a list of finite"),
        ({"emb": [1, [2], 3]}, "/emb", "must be a finite number, the text of a category, a list of finite"),
        ({"emb": {"0": 1}}, "/emb", "must be a finite number, the text of a category, a list of finite"),
        ([1, [1, 2, 3], 2], "/1", "must be a finite number, the text of a category, or null"),
    ],
)
def test_an_incomplete_block_is_refused(
    client: TestClient, model: Model, features: Any, pointer: str, detail: str
) -> None:
    """The error points at the feature or the number, and describes the value that the model expects."""
    answer = rank_rows(client, [features])
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["pointer"] == PLACE + pointer
    assert error["detail"].startswith(detail)


def test_features_of_a_null_list_may_be_given_one_by_one(client: TestClient, scores: Float64Array) -> None:
    """A block that is null is not a second value for its features."""
    bm25, embedding, price = DOCUMENTS[0]
    features = {
        "bm25": bm25,
        "emb": None,
        "price": price,
        **dict(zip(NAMES[1:4], embedding or (), strict=True)),
    }
    assert scores_by_row(rank_rows(client, [features])) == [scores[0]]


def test_explanations_name_the_features_of_a_block(client: TestClient, model: Model) -> None:
    """Each feature of a block has a separate contribution with its value."""
    answer = rank_rows(client, [{"emb": [0.5, 1.5, -2]}], explain=True).json()
    contributions = answer["queries"][0]["ranking"][0]["explanation"]["contributions"]
    values = {part["feature"]: part["value"] for part in contributions}
    assert values.items() >= {"emb.0": 0.5, "emb.1": 1.5, "emb.2": -2}.items()


def _lists(values: Any, number: Any = None, size: int = 3) -> Any:
    """Return a column of fixed-size lists, of float32 by default."""
    return pa.array(values, pa.list_(number or pa.float32(), size))


@pytest.mark.parametrize("number", [pa.float32(), pa.float64()], ids=str)
def test_arrow_has_a_column_of_lists(client: TestClient, scores: Float64Array, number: Any) -> None:
    """A column of fixed-size lists may be among columns of single features; a null list is missing values."""
    bm25, embeddings, prices = zip(*DOCUMENTS, strict=True)
    columns = {"price": prices, "emb": _lists(embeddings, number), "bm25": pa.array(bm25, pa.float32())}
    answer = rank_stream(client, arrow_stream(pa.table(columns)))
    assert answer.status_code == 200, answer.text
    ranked = pa.ipc.open_stream(answer.content).read_all().sort_by("row")
    assert ranked.column("score").to_pylist() == scores.tolist()


def test_arrow_may_have_several_columns_of_lists(client: TestClient, add_model: Callable[..., Model]) -> None:
    """A table may have a column of lists for each block, with different types of numbers."""
    add_model("web", text=MODEL_TEXT, feature_names=("bm25", "a.0", "a.1", "b.0", "b.1"))
    blocks = {"b": _lists([[3, 4]], pa.int8(), 2), "a": _lists([[0.5, None]], pa.float64(), 2)}
    answer = rank_stream(client, arrow_stream(pa.table({"bm25": [0.25], **blocks})))
    (score,) = pa.ipc.open_stream(answer.content).read_all().column("score").to_pylist()
    row = np.array([[0.25, 0.5, np.nan, 3, 4]])
    expected = lightgbm.Booster(model_str=MODEL_TEXT).predict(row, raw_score=True)
    assert [score] == np.asarray(expected).tolist()


@pytest.mark.parametrize(
    ("columns", "pointer", "detail"),
    [
        ({"emb": _lists([[1, 2]], size=2)}, "/emb", "has 2 values; the block has 3 features"),
        ({"emb": _lists([[1, 2, 3]]), "emb.2": [1.0]}, "/emb.2", "is also given by 'emb'"),
        ({"bm25": _lists([[1, 2, 3]])}, "/bm25", "has lists, but is not a block of features of this model"),
        ({"title": _lists([[1, 2, 3]])}, "/title", "has lists, but is not a block of features of this model"),
        ({"emb": [1.0]}, "/emb", "not a feature of this model"),
        (
            {"emb": _lists([[1, 2, 1e39]], pa.float64())},
            "/emb",
            "row 0: has a value beyond the range of float32",
        ),
        (
            {"bm25": [1.0], "emb": _lists([["a"] * 3], pa.string())},
            "/emb",
            "columns of lists of non-numbers",
        ),
        (
            {"emb": _lists([[1, 2, 3]]), "x": _lists([[[1]]], pa.list_(pa.int8()), 1)},
            "/x",
            "columns of lists of non-numbers",
        ),
        ({"emb": pa.array([[1.0, 2, 3]])}, "/emb", "columns of list are not accepted"),
    ],
)
def test_arrow_lists_that_do_not_fit_are_refused(
    client: TestClient, model: Model, columns: dict[str, Any], pointer: str, detail: str
) -> None:
    """The error points at the column."""
    answer = rank_stream(client, arrow_stream(pa.table(columns)))
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert error["detail"].startswith(detail)


def _infer(client: TestClient, inputs: list[dict[str, Any]]) -> Any:
    return client.post("/v2/models/web/infer", json={"inputs": inputs})


def _tensor(name: str, values: Any, *shape: int) -> dict[str, Any]:
    return {"name": name, "shape": shape, "datatype": "FP64", "data": values}


def test_a_tensor_gives_all_features_of_a_block(client: TestClient, scores: Float64Array) -> None:
    """A block's tensor, nested or flat, may be in any order among tensors of single features."""
    bm25, embeddings, prices = (list(column) for column in zip(*DOCUMENTS, strict=True))
    rows = [embedding or [None] * 3 for embedding in embeddings]
    for data in (rows, [value for row in rows for value in row]):
        inputs = [_tensor("emb", data, 5, 3), _tensor("price", prices, 5), _tensor("bm25", bm25, 5, 1)]
        (output,) = _infer(client, inputs).json()["outputs"]
        np.testing.assert_array_equal(output["data"], scores)


@pytest.mark.usefixtures("model")
def test_a_tensor_of_a_block_alone_leaves_the_others_out(client: TestClient) -> None:
    """The shape distinguishes a block from a matrix of all features, which may have the same name."""
    alone = _infer(client, [_tensor("emb", [0.1, -0.2, 0.3], 1, 3)]).json()["outputs"][0]["data"]
    named = [_tensor(f"emb.{index}", [value], 1) for index, value in enumerate((0.1, -0.2, 0.3))]
    assert _infer(client, named).json()["outputs"][0]["data"] == alone
    whole = [_tensor("emb", [None, 0.1, -0.2, 0.3, None], 1, 5)]
    assert _infer(client, whole).json()["outputs"][0]["data"] == alone


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("inputs", "detail"),
    [
        ([_tensor("emb", [1, 2], 1, 2)], "/inputs/0/shape: is [1, 2]; the model has 5 features"),
        ([_tensor("emb", [1], 1), _tensor("price", [1], 1)], "/inputs/0/shape: must be [1, 3]"),
        (
            [_tensor("emb.1", [1], 1), _tensor("emb", [1, 2, 3], 1, 3)],
            "/inputs/1/name: is also given by 'emb.1'",
        ),
        (
            [_tensor("emb", [1, 2, 3], 1, 3), _tensor("emb.1", [1], 1)],
            "/inputs/1/name: is also given by 'emb'",
        ),
        ([_tensor("emb", [1, 2, 3], 1, 3)] * 2, "/inputs/1/name: two tensors have this name"),
    ],
)
def test_tensors_that_do_not_fit_a_block_are_refused(
    client: TestClient, inputs: list[dict[str, Any]], detail: str
) -> None:
    """400 names the tensor and the member with the mistake."""
    answer = _infer(client, inputs)
    assert answer.status_code == 400
    assert detail in answer.text
