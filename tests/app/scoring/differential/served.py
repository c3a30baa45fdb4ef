"""The real application in this process, with models whose scores distinguish documents."""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from fastapi import FastAPI

from app import ApiSettings, create_app
from app.http.services import Services, registered
from app.scoring.served_models import ServedModel
from app.scoring.services import ScoringServices
from core.store import Store
from core.store.artifacts.keys import model_key
from core.types import Float64Array
from tests.app.scoring.differential.requests import GRID, IMPORTED, NAMES, WEB, Answer, Sent

_NO_ANSWER: dict[str, Any] = {"status": 500, "headers": []}
_NO_BROKER = "redis://127.0.0.1:1/0"


class Served:
    """An application that serves models.

    Args:
        application: The started application.
        booster: LightGBM's model, which is stored as `WEB` and as `IMPORTED`.
    """

    def __init__(self, application: FastAPI, booster: lightgbm.Booster) -> None:
        self._application = application
        self._booster = booster
        self.settings = registered(application, Services).settings
        self.store = registered(application, Services).store

    async def model(self, name: str) -> ServedModel:
        """Return a model as the application loads it for scoring."""
        return await registered(self._application, ScoringServices).models.get(name)

    def add(self, name: str, text: str, *, feature_names: Sequence[str], imported: bool) -> None:
        """Store a model, as if it was trained here or imported."""
        _add_model(self.store, name, text, feature_names, imported=imported)

    def scores(self, features: Float64Array, name: str) -> Float64Array:
        """Score documents by LightGBM; all models but `IMPORTED` get features rounded to float32."""
        inputs = features if name == IMPORTED else features.astype(np.float32)
        return np.asarray(self._booster.predict(inputs, raw_score=True), np.float64)

    async def send(self, sent: Sent) -> Answer:
        """Send a request to the application as a server does, and return the answer."""
        path, _, query = sent.path.partition("?")
        headers = {"host": "127.0.0.1", "content-length": str(len(sent.content)), **sent.headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 8000),
        }
        messages: list[Any] = []
        waiting = [{"type": "http.request", "body": sent.content, "more_body": False}]

        async def receive() -> Any:
            return waiting.pop() if waiting else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            messages.append(message)

        # A server, too, suppresses an exception of the application and responds with the status 500.
        with contextlib.suppress(Exception):
            await self._application(scope, receive, send)
        start = next((one for one in messages if one["type"] == "http.response.start"), _NO_ANSWER)
        content = b"".join(one.get("body", b"") for one in messages if one["type"] == "http.response.body")
        answer_headers = {name.decode().lower(): value.decode() for name, value in start.get("headers") or ()}
        return Answer(start["status"], content, answer_headers)


@contextlib.asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    """Start an application with a store in a folder, and stop it."""
    settings = ApiSettings(data_dir=folder, broker_url=_NO_BROKER, scores_per_second=0, log_level="error")
    application = create_app(settings)
    async with application.router.lifespan_context(application):
        booster = _booster()
        serving = Served(application, booster)
        for name in (WEB, IMPORTED):
            serving.add(name, booster.model_to_string(), feature_names=NAMES, imported=name == IMPORTED)
        yield serving


def _booster() -> lightgbm.Booster:
    generator = np.random.default_rng(5)
    features = GRID * np.round(generator.normal(size=(4_000, len(NAMES))) / GRID)
    features[generator.random(features.shape) < 0.2] = np.nan
    slopes, gaps = np.array([3, -2, 1, 0.5, 2, 1, -1]), np.arange(1.0, 8.0)
    target = np.nansum(features * slopes, 1) + np.isnan(features) @ gaps
    parameters = {"objective": "regression", "num_leaves": 31, "verbosity": -1, "seed": 1, "num_threads": 1}
    return lightgbm.train(parameters, lightgbm.Dataset(features, target), num_boost_round=40)


def _add_model(store: Store, name: str, text: str, feature_names: Sequence[str], *, imported: bool) -> None:
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "synthetic", "queries": 3, "seed": 0})
        job = tx.jobs.add("train", {"model_name": name}, dataset_ids=[dataset.id])
        model = tx.models.add(
            name=name,
            job_id=job.id,
            dataset_id=None if imported else dataset.id,
            feature_names=list(feature_names),
            loss=None if imported else {"name": "lambdarank"},
            hyperparameters=None if imported else {},
            best_iteration=40,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            size_bytes=len(text),
        )
    store.artifacts.write_bytes(model_key(model.id), text.encode())
