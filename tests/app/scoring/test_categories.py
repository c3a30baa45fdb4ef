"""Categories in scoring requests: sent as texts where a request can hold texts, or else as numbers."""

import json
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import pyarrow as pa
import pytest

from app.scoring.served_models import ServedModel, _load_warm
from app.scoring.tensors import HEAD_BYTES
from core.data import RankingDataset
from core.data.feature_alignment import with_categories
from core.store import Model, Store
from core.training import train, training_spec
from core.types import Float64Array
from tests.app.conftest import FEATURE_NAMES, TestClient
from tests.app.scoring.conftest import arrow_stream, rank_rows, rank_stream, scores_by_row

BRANDS = ("acme", "Zürich", 'say "hi"', "neo", "omni", "pax")
SHOPS = (7, 1001, 40_000)
BRAND, SHOP = FEATURE_NAMES[1], FEATURE_NAMES[2]
# A number, a brand and a shop per document; some are missing, and some unknown to the model.
DOCUMENTS: list[tuple[float | None, str | None, int | None]] = [
    (0.5, "acme", 7),
    (0.1, "Zürich", 1001),
    (None, 'say "hi"', 40_000),
    (0.9, "unseen", 8),
    (0.3, None, None),
    (0.7, "neo", 0),
    (0.7, "pax", 1001),
]


def _model_text() -> str:
    random = np.random.default_rng(0)
    features = np.column_stack(
        [random.normal(size=600), random.integers(len(BRANDS), size=600), random.choice(SHOPS, size=600)]
    )
    labels = np.isin(features[:, 1], (0, 2, 3)) * 2 + (features[:, 2] == 1001) + (features[:, 0] > 0)
    plain = RankingDataset.from_arrays(
        features, labels, np.arange(0, 601, 20), feature_names=FEATURE_NAMES, categories={BRAND: BRANDS}
    )
    shape = {"num_iterations": 20, "num_leaves": 7, "min_data_in_leaf": 5, "min_data_per_group": 5}
    spec = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {**shape, "cat_smooth": 1.0}})
    return train(spec, with_categories(plain, [SHOP])).model_text


MODEL_TEXT = _model_text()


@pytest.fixture
def model(add_model: Callable[..., Model]) -> Model:
    """A model with a category of texts and a category of numbers."""
    return add_model("web", text=MODEL_TEXT)


@pytest.fixture
def scores(model: Model) -> Float64Array:
    """The scores of `DOCUMENTS` by LightGBM's Booster, from the codes of their categories."""
    codes = [
        [
            number,
            BRANDS.index(brand) if brand in BRANDS else None,
            SHOPS.index(shop) if shop in SHOPS else None,
        ]
        for number, brand, shop in DOCUMENTS
    ]
    rows = np.array(codes, np.float64)
    return np.asarray(lightgbm.Booster(model_str=MODEL_TEXT).predict(rows, raw_score=True))


def _by_name(row: tuple[Any, ...]) -> dict[str, Any]:
    return {name: value for name, value in zip(FEATURE_NAMES, row, strict=True) if value is not None}


def test_the_model_uses_both_categories(scores: Float64Array) -> None:
    """The documents have different scores, so that a wrong code changes the result."""
    assert len(set(scores.tolist())) >= 6


def test_json_names_categories_by_text(client: TestClient, scores: Float64Array) -> None:
    """Scores of features by name, by position and with numbers as texts equal LightGBM's of the codes."""
    assert scores_by_row(rank_rows(client, [_by_name(row) for row in DOCUMENTS])) == scores.tolist()
    assert scores_by_row(rank_rows(client, [list(row) for row in DOCUMENTS])) == scores.tolist()
    as_texts = [[number, brand, None if shop is None else str(shop)] for number, brand, shop in DOCUMENTS]
    assert scores_by_row(rank_rows(client, as_texts)) == scores.tolist()


def test_a_number_is_a_code_of_a_text_or_a_value(client: TestClient, scores: Float64Array) -> None:
    """Requests of numbers only (`quick`) and other requests get equal scores."""
    quick = [[number, _code(brand), shop] for number, brand, shop in DOCUMENTS]
    assert scores_by_row(rank_rows(client, quick)) == scores.tolist()
    general = [*quick[:-1], [quick[-1][0], "pax", quick[-1][2]]]
    assert scores_by_row(rank_rows(client, general)) == scores.tolist()


def _code(brand: str | None) -> int | None:
    return BRANDS.index(brand) if brand in BRANDS else None


def test_long_whole_numbers_are_values(
    client: TestClient, add_model: Callable[..., Model], scores: Float64Array
) -> None:
    """Ids of 64 bits are exact in Arrow and in JSON, though float64 cannot represent them."""
    long = [2**60 + shop for shop in SHOPS]
    text = MODEL_TEXT.replace(str(list(SHOPS)), str([*map(str, long)]).replace("'", '"'))
    assert str(long[0]) in text
    add_model("web", text=text)
    columns = zip(*DOCUMENTS, strict=True)
    table = pa.table(dict(zip(FEATURE_NAMES, map(pa.array, columns), strict=True)))
    shops = [None if shop is None else 2**60 + shop for _, _, shop in DOCUMENTS]
    table = table.set_column(2, SHOP, pa.array(shops, pa.int64()))
    with pa.ipc.open_stream(rank_stream(client, arrow_stream(table)).content) as answer:
        ranked = answer.read_all().sort_by("row")
    assert ranked.column("score").to_pylist() == scores.tolist()
    rows = [[number, brand, shop] for (number, brand, _), shop in zip(DOCUMENTS, shops, strict=True)]
    answer = rank_rows(client, rows, explain=True)
    assert scores_by_row(answer) == scores.tolist()
    shown = {
        int(document["id"]): part["value"]
        for document in answer.json()["queries"][0]["ranking"]
        for part in document["explanation"]["contributions"]
        if part["feature"] == SHOP
    }
    assert [shown[row] for row in range(3)] == [str(each) for each in long]


def test_short_numbers_among_long_ones_are_values(
    client: TestClient, add_model: Callable[..., Model]
) -> None:
    """Tensors and columns of floats look numbers up, too, instead of taking them as codes."""
    ids = json.dumps([*map(str, SHOPS[:2]), str(2**60)])
    add_model("web", text=MODEL_TEXT.replace(str(list(SHOPS)), ids))
    expected = scores_by_row(rank_rows(client, [list(row) for row in DOCUMENTS]))
    rows = [value for number, brand, shop in DOCUMENTS for value in (number, _code(brand), shop)]
    whole = {"name": "x", "shape": [len(DOCUMENTS), 3], "datatype": "FP64", "data": rows}
    for tensors in ([whole], _tensors({"data": [brand for _, brand, _ in DOCUMENTS]})):
        answer = client.post("/v2/models/web/infer", json={"inputs": tensors})
        assert answer.json()["outputs"][0]["data"] == expected
    table = pa.table(dict(zip(FEATURE_NAMES, map(pa.array, zip(*DOCUMENTS, strict=True)), strict=True)))
    table = table.set_column(2, SHOP, table.column(SHOP).cast(pa.float64()))
    with pa.ipc.open_stream(rank_stream(client, arrow_stream(table)).content) as ranked:
        assert ranked.read_all().sort_by("row").column("score").to_pylist() == expected


def test_explanations_show_texts(client: TestClient, scores: Float64Array) -> None:
    """Values are shown as given; categories unknown to the model are missing."""
    answer = rank_rows(client, [list(row) for row in DOCUMENTS], explain=True).json()
    for document in answer["queries"][0]["ranking"]:
        number, brand, shop = DOCUMENTS[int(document["id"])]
        expected_values = {
            "bm25": number,
            BRAND: brand if brand in BRANDS else None,
            SHOP: str(shop) if shop in SHOPS else None,
        }
        for part in document["explanation"]["contributions"]:
            assert part["value"] == (
                pytest.approx(expected_values["bm25"])
                if part["feature"] == "bm25"
                else expected_values[part["feature"]]
            )


@pytest.mark.parametrize(
    ("features", "pointer", "detail"),
    [
        (
            {"bm25": "acme"},
            "/queries/0/documents/0/features/bm25",
            "must be a number; the feature is not categorical",
        ),
        (
            ["acme", None, None],
            "/queries/0/documents/0/features/0",
            "must be a number; the feature is not categorical",
        ),
        ({"brand": "acme"}, "/queries/0/documents/0/features/brand", "not a feature of this model"),
        ({BRAND: ["acme"]}, f"/queries/0/documents/0/features/{BRAND}", ""),
        ({BRAND: True}, f"/queries/0/documents/0/features/{BRAND}", ""),
    ],
)
def test_texts_of_numbers_and_values_of_other_types_are_refused(
    client: TestClient, model: Model, features: Any, pointer: str, detail: str
) -> None:
    """The error points at the feature."""
    answer = rank_rows(client, [features])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert answer.json()["errors"][0]["detail"].startswith(detail)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("shops", ["numbers", "texts"])
def test_arrow_names_categories_by_text(
    client: TestClient, scores: Float64Array, kind: Any, shops: str
) -> None:
    """A column has texts, or numbers if the categories are numbers."""
    numbers, brands, shop_values = (list(column) for column in zip(*DOCUMENTS, strict=True))
    columns = {
        "bm25": pa.array(numbers, pa.float64()),
        BRAND: pa.array(brands, kind),
        SHOP: pa.array(shop_values, pa.int64())
        if shops == "numbers"
        else pa.array([None if shop is None else str(shop) for shop in shop_values], kind),
    }
    answer = rank_stream(client, arrow_stream(pa.table(columns)))
    assert answer.status_code == 200, answer.text
    ranked = pa.ipc.open_stream(answer.content).read_all().sort_by("row")
    assert ranked.column("score").to_pylist() == scores.tolist()
    refused = rank_stream(client, arrow_stream(pa.table({"bm25": pa.array(brands, kind)})))
    assert refused.json()["errors"][0]["pointer"] == "/bm25"


def test_lists_of_arrow_hold_codes_and_numbers(client: TestClient, scores: Float64Array) -> None:
    """Lists have a single type, so that texts are sent as codes."""
    rows = [[number, _code(brand), shop] for number, brand, shop in DOCUMENTS]
    table = pa.table({"features": pa.array(rows, pa.list_(pa.float64(), 3))})
    answer = rank_stream(client, arrow_stream(table))
    assert answer.status_code == 200, answer.text
    ranked = pa.ipc.open_stream(answer.content).read_all().sort_by("row")
    assert ranked.column("score").to_pylist() == scores.tolist()


def _tensors(brands: dict[str, Any]) -> list[dict[str, Any]]:
    numbers, _, shops = (list(column) for column in zip(*DOCUMENTS, strict=True))
    shape = {"shape": [len(DOCUMENTS)]}
    return [
        {"name": "bm25", "datatype": "FP64", "data": numbers, **shape},
        {"name": BRAND, "datatype": "BYTES", **shape, **brands},
        {"name": SHOP, "datatype": "FP32", "data": shops, **shape},
    ]


def test_tensors_name_categories_by_text(client: TestClient, scores: Float64Array) -> None:
    """Texts are BYTES in JSON; a tensor of all features has codes and numbers."""
    brands = [brand for _, brand, _ in DOCUMENTS]
    answer = client.post("/v2/models/web/infer", json={"inputs": _tensors({"data": brands})})
    assert answer.status_code == 200, answer.text
    assert answer.json()["outputs"][0]["data"] == scores.tolist()
    rows = [value for number, brand, shop in DOCUMENTS for value in (number, _code(brand), shop)]
    whole = {"name": "x", "shape": [len(DOCUMENTS), 3], "datatype": "FP64", "data": rows}
    answer = client.post("/v2/models/web/infer", json={"inputs": [whole]})
    assert answer.json()["outputs"][0]["data"] == scores.tolist()


def test_binary_tensors_name_categories_by_text(client: TestClient, scores: Float64Array) -> None:
    """Each text follows its length; an empty text is a missing category."""
    texts = [(brand or "").encode() for _, brand, _ in DOCUMENTS]
    data = b"".join(len(text).to_bytes(4, "little") + text for text in texts)

    def post(data: bytes, size: int) -> Any:
        head = json.dumps({"inputs": _tensors({"parameters": {"binary_data_size": size}})}).encode()
        return client.post("/v2/models/web/infer", content=head + data, headers={HEAD_BYTES: str(len(head))})

    assert post(data, len(data)).json()["outputs"][0]["data"] == scores.tolist()
    for bad, size in (
        (data[:-1], len(data) - 1),
        (data, len(data) + 1),
        (data[:4] + b"\xff" + data[5:], len(data)),
        (data[: 4 + len(texts[0])], 4 + len(texts[0])),
        (b"\xff\xff\xff\xff", 4),
    ):
        refused = post(bad, size)
        assert refused.status_code == 400, refused.text
        assert refused.json()["error"].startswith("/inputs/1/")


@pytest.mark.parametrize(
    ("brands", "pointer"),
    [
        ({"data": ["acme"]}, "/inputs/1/shape"),
        ({"data": [1] * 7}, "/inputs/1/data"),
        ({}, "/inputs/1/data"),
        ({"shape": [7, 2], "data": ["acme"] * 14}, "/inputs/1/shape"),
        ({"name": "bm25", "data": ["acme"] * 7}, "/inputs/1/datatype"),
    ],
)
def test_tensors_of_texts_are_checked(
    client: TestClient, model: Model, brands: dict[str, Any], pointer: str
) -> None:
    """A tensor must have one text per document, and belong to a category."""
    answer = client.post("/v2/models/web/infer", json={"inputs": _tensors(brands)})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(pointer)


def test_features_without_categories_are_not_copied(store: Store, add_model: Callable[..., Model]) -> None:
    """A model without categories scores the array of the request."""
    served: ServedModel = _load_warm(store, add_model("plain"))
    features = np.zeros((2, 3))
    assert served.coded(features) is features
    assert served.categories == {}
