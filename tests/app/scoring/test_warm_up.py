"""No request waits for a kernel to be compiled."""

from pathlib import Path

import pytest

from tests.compiling import left_to_compile

WORK = """
import hashlib, json, pathlib, sys, warnings
from core.process_start import leave_out_unused
leave_out_unused()
import lightgbm
import numpy as np
from app import ApiSettings, create_app
from app.http.services import Services, registered
from core.scorers import write_network
from core.store.artifacts.keys import model_key
from tests.core.scorers.networks import random_network
warnings.simplefilter("ignore")
from starlette.testclient import TestClient

features = np.random.default_rng(0).random((200, 3))
parameters = {"objective": "regression", "verbosity": -1}
booster = lightgbm.train(parameters, lightgbm.Dataset(features, features[:, 0]), num_boost_round=2)
text = booster.model_to_string().encode()
networks = {
    "line": dict(kind="none"),
    "norm": dict(hidden=(8, 4), layer_norm=True, missing_indicators=True),
    "tanh": dict(hidden=(40,), activation="tanh", kind="rank-gauss"),
    "sigmoid": dict(hidden=(5,), activation="sigmoid", log1p=True),
}
settings = ApiSettings(data_dir=pathlib.Path(sys.argv[1]), broker_url="redis://127.0.0.1:1/0")
application = create_app(settings)
with TestClient(application, base_url="http://127.0.0.1") as client:
    warm_up_ends()
    store = registered(application, Services).store

    def add(name, content):
        with store.begin() as tx:
            job = tx.jobs.add("import-model", {"name": name})
            model = tx.models.add(
                name=name, job_id=job.id, feature_names=["a", "b", "c"], best_iteration=2,
                sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content),
            )
        store.artifacts.write_bytes(model_key(model.id), content)

    add("web", text)

    def ask(path, **request):
        answer = client.post(path, **request)
        assert answer.status_code == 200, answer.text

    def rank(*features, **members):
        documents = [{"id": str(place), "features": values} for place, values in enumerate(features)]
        ask("/v1/models/web/rank", json={"queries": [{"id": "q", "documents": documents}], **members})

    rank([0.5, 1, None], [1e-3, 2, 3])
    rank({"a": 0.5}, {"b": 1, "c": None})
    rank({"a": 0.5}, {"\\u0061": 1}, explain=True)
    rank(*features.tolist())
    tensor = {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": features[:2].tolist()}
    ask("/v2/models/web/infer", json={"inputs": [tensor]})
    columns = [{"name": name, "shape": [2], "datatype": "FP64", "data": [0.5, None]} for name in "abc"]
    ask("/v2/models/web/infer", json={"inputs": columns})
    for kind, size in (("FP32", 4), ("FP64", 8)):
        data = features.astype(f"<f{size}").tobytes()
        tensor = {
            "name": "x", "shape": [200, 3], "datatype": kind, "parameters": {"binary_data_size": len(data)}
        }
        head = json.dumps({"inputs": [tensor]}).encode()
        ask(
            "/v2/models/web/infer",
            content=head + data,
            headers={"inference-header-content-length": str(len(head))},
        )
    for name, network in networks.items():
        add(name, write_network(random_network(3, **network)))
        documents = [{"id": str(place), "features": values} for place, values in enumerate(features.tolist())]
        for explained in (False, True):
            queries = [{"id": "q", "documents": documents[:100]}]
            ask(f"/v1/models/{name}/rank", json={"queries": queries, "explain": explained})
        ask(f"/v2/models/{name}/infer", json={"inputs": [{"name": "x", "shape": [2, 3], "datatype": "FP32",
            "data": features[:2].tolist()}]})
"""


@pytest.mark.long
def test_starting_compiles_all_that_requests_need(tmp_path: Path) -> None:
    """After the start, rankings and tensors of forests and networks compile no further kernel.

    Features are given by name and by position, with and without explanations. All networks share one kernel.
    """
    assert left_to_compile(WORK, tmp_path) == []
