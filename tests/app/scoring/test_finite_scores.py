"""A score that is not a number is an error, which names the model and the document."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from core.data import RankingDataset
from core.errors import ScoreNotFinite
from core.scorers import InputTransform, Layer, Network
from core.store import Model, Store
from tests.app.conftest import FEATURE_NAMES, TestClient
from tests.app.scoring.conftest import arrow_stream, rank_stream
from worker.job.systems import load_model

HUGE = 1e30  # within the range of float32


@pytest.fixture
def web(add_network: Callable[..., Model]) -> Model:
    """A network with finite weights and finite scores of usual documents; its weights multiply to 1e280."""
    layers = tuple(
        Layer(np.full(sizes, 1e35, np.float32), np.zeros(sizes[1], np.float32))
        for sizes in pairwise((len(FEATURE_NAMES), 1, 1, 1, 1, 1, 1, 1, 1))
    )
    return add_network("web", Network(tuple(FEATURE_NAMES), InputTransform.unscaled(3), layers))


def _json(values: list[float], **more: Any) -> dict[str, Any]:
    documents = [{"id": f"d{i}", "features": [value, 0, None]} for i, value in enumerate(values, 1)]
    return {"queries": [{"id": "q0", "documents": []}, {"id": "q1", "documents": documents}], **more}


def test_every_form_names_model_and_document(client: TestClient, web: Model) -> None:
    """The status is never 200 with `null`, and no part of the request is answered."""
    inputs = [{"name": "bm25", "shape": [2], "datatype": "FP32", "data": [1.0, HUGE]}]
    table = pa.table({"document_id": ["d1", "d2"], "bm25": [1.0, HUGE]})
    rank, infer = "/v1/models/web/rank", "/v2/models/web/infer"
    assert client.post(rank, json=_json([1.0, 1e20])).status_code == 200
    answers = {
        "document 'd2' of query 'q1'": [
            client.post(rank, json=_json([1.0, HUGE])),
            client.post(rank, json=_json([1.0, HUGE], explain=True)),
        ],
        "document 'd2'": [rank_stream(client, arrow_stream(table))],
        "document 1, counted from 0": [client.post(infer, json={"inputs": inputs})],
    }
    for place, each in answers.items():
        for answer in each:
            assert answer.status_code in (400, 422)
            assert f"web:1 computes the score inf for {place}: " in answer.text


def test_scores_of_a_dataset_name_model_and_document(store: Store, web: Model) -> None:
    """Jobs score datasets in this way; NaN would mean a document that was not retrieved."""
    features = np.zeros((5, 3), np.float32)
    features[3, 0] = HUGE
    dataset = RankingDataset.from_arrays(
        features, np.zeros(5), np.array([0, 2, 5]), query_ids=["q1", "q2"], feature_names=FEATURE_NAMES
    )
    with pytest.raises(ScoreNotFinite, match="web:1 computes the score inf for document '2' of query 'q2'"):
        load_model(store, web.id).score(dataset, 1)
