"""Score samples: log a share of the scored requests."""

import logging
import random
from datetime import UTC, datetime
from logging.handlers import QueueListener, RotatingFileHandler
from pathlib import Path
from queue import Full, Queue

import numpy as np
import structlog
from pydantic_core import to_json

from app.scoring.candidates import Candidates
from app.scoring.json_candidates import JsonCandidates
from app.scoring.sample_uploads import SampleUploads
from app.scoring.served_models import ServedModel
from core.types import Float64Array

MOST_WAITING = 100  # requests; while the disk is slower, further ones are left out
_FILES = 2  # one that grows, and the one before


class Samples:
    """Log sampled requests as JSON lines into a bounded file and for drift jobs, in the background.

    Args:
        path: The file; of the lines before those that it has room for, as many are in `{path}.1`.
        share: Of the requests, from 0 to 1.
        most_bytes: Of both files together.
        uploads: What stores them for drift jobs.
    """

    def __init__(self, path: Path, share: float, most_bytes: int, uploads: SampleUploads) -> None:
        self._share = share
        self._waiting: Queue[logging.LogRecord] = Queue(MOST_WAITING)
        self._handler = RotatingFileHandler(
            path, maxBytes=max(most_bytes // _FILES, 1), backupCount=_FILES - 1, encoding="utf-8", delay=True
        )
        self._listener = QueueListener(self._waiting, self._handler, uploads)
        self._uploads = uploads
        if share:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._listener.start()
            uploads.start()

    def take(self, model: ServedModel, candidates: Candidates, scores: Float64Array) -> None:
        """Log a request if it is sampled; only JSON names all that is logged."""
        if not self._share or not isinstance(candidates, JsonCandidates):
            return
        if random.random() < self._share:  # noqa: S311 - nobody gains by guessing it
            line = _line(model, candidates, scores)
            try:
                self._waiting.put_nowait(logging.makeLogRecord({"msg": line, "model_name": model.name}))
            except Full:
                return

    def close(self) -> None:
        """Write the pending samples and close the file."""
        if self._share:
            self._listener.stop()
        self._handler.close()
        self._uploads.close()


def _line(model: ServedModel, candidates: JsonCandidates, scores: Float64Array) -> str:
    features = candidates.features.astype(object)
    features[np.isnan(candidates.features)] = None
    for column, name in enumerate(model.feature_names):
        if name in model.categories:
            features[:, column] = [model.shown(column, value) for value in candidates.features[:, column]]
    documents = iter(zip(features.tolist(), scores.tolist(), strict=True))
    return to_json(
        {
            "at": datetime.now(UTC),
            "request_id": structlog.contextvars.get_contextvars().get("request_id"),
            "model": {"id": model.id, "name": model.name, "version": model.version},
            "queries": [
                {
                    "id": query_id,
                    "documents": [
                        {"id": document_id, "features": values, "score": score}
                        for document_id, (values, score) in zip(ids, documents, strict=False)
                    ],
                }
                for query_id, ids in zip(candidates.query_ids, candidates.document_ids, strict=True)
            ],
        },
        inf_nan_mode="null",
    ).decode()
