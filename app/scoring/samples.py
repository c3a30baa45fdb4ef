"""Score samples: log a share of the scored requests."""

import logging
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from logging.handlers import QueueListener, RotatingFileHandler
from pathlib import Path
from queue import Full, Queue
from typing import Any

import structlog
from pydantic_core import to_json

from app.scoring.candidates import CandidateIds, Candidates
from app.scoring.sample_writer import SampleWriter
from app.scoring.served_models import ServedModel
from core.store.clock import utc_now
from core.types import Float64Array, FloatArray

MAX_WAITING = 100  # requests; further ones are dropped while the disk is slower
MAX_VALUES = 2**18  # feature values; documents of a larger request are sampled. About 5 MB of text
_FILES = 2  # the current file and the previous file
_LOG = structlog.stdlib.get_logger("rankery.samples")


class SampleLog:
    """Log sampled requests as JSON lines into a bounded file and for drift jobs, in the background.

    Args:
        path: The log file; `{path}.1` has older lines.
        share: Share of sampled requests, from 0 to 1.
        max_bytes: Limit of both files together.
        artifact_writer: Writer that stores samples for drift jobs.
    """

    def __init__(self, path: Path, share: float, max_bytes: int, artifact_writer: SampleWriter) -> None:
        self._share = share
        self._waiting: Queue[logging.LogRecord] = Queue(MAX_WAITING)
        self._handler = RotatingFileHandler(
            path, maxBytes=max(max_bytes // _FILES, 1), backupCount=_FILES - 1, encoding="utf-8", delay=True
        )
        self._listener = _SampleListener(self._waiting, self._handler, artifact_writer)
        self._artifact_writer = artifact_writer
        if share:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._listener.start()
            artifact_writer.start()

    def log_if_sampled(
        self, model: ServedModel, candidates: Candidates, features: FloatArray, scores: Float64Array
    ) -> None:
        """Log a request if it is sampled; its text is written in the background.

        Args:
            features: (n_documents, n_features) of the candidates; must not be modified afterwards.
            scores: (n_documents,)
        """
        if not self._share or random.random() >= self._share:  # noqa: S311 - no secret
            return
        record = logging.makeLogRecord({"model_name": model.name})
        record.msg = _Sample.of(model, candidates.ids(), features, scores)
        try:
            self._waiting.put_nowait(record)
        except Full:
            return

    def close(self) -> None:
        """Write the pending samples and close the file."""
        if self._share:
            self._listener.stop()
        self._handler.close()
        self._artifact_writer.close()


class _SampleListener(QueueListener):
    """Format samples in the listener's thread, before handlers see them."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        record.msg = str(record.msg)
        return record

    def handle(self, record: logging.LogRecord) -> None:
        try:
            super().handle(record)
        except Exception:  # noqa: BLE001 - else the thread would end
            _LOG.warning("samples.not_logged", exc_info=True)


@dataclass(frozen=True, eq=False)
class _Sample:
    """A scored request.

    Attributes:
        features: (n_documents, n_features).
        scores: (n_documents,).
        rows: Indices of the logged documents in ascending order; None for all.
    """

    at: datetime
    request_id: str | None
    model: ServedModel
    ids: CandidateIds
    features: FloatArray
    scores: Float64Array
    rows: Sequence[int] | None

    @classmethod
    def of(
        cls, model: ServedModel, ids: CandidateIds, features: FloatArray, scores: Float64Array
    ) -> "_Sample":
        """Build the sample of a request, with a bounded number of documents."""
        rows = None
        max_documents = max(1, MAX_VALUES // features.shape[1])
        if len(features) > max_documents:
            rows = sorted(random.sample(range(len(features)), max_documents))
            features, scores = features[rows], scores[rows]
        request_id = structlog.contextvars.get_contextvars().get("request_id")
        return cls(utc_now(), request_id, model, ids, features, scores, rows)

    def __str__(self) -> str:
        """Return the sample as a line of JSON."""
        model = {"id": self.model.id, "name": self.model.name, "version": self.model.version}
        sample: dict[str, Any] = {"at": self.at, "request_id": self.request_id, "model": model}
        if self.rows is not None:
            sample["scored_documents"] = sum(map(len, self.ids.documents))
        queries = ",".join(self._queries())
        return f'{to_json(sample).decode()[:-1]},"queries":[{queries}]}}'

    def _queries(self) -> Iterator[str]:
        """Yield the JSON of each query; documents are serialised one by one to let other threads run."""
        documents, start = self._documents(), 0
        sampled_rows = None if self.rows is None else set(self.rows)
        for query_id, ids in zip(self.ids.queries, self.ids.documents, strict=True):
            rows = range(start, start + len(ids))
            start += len(ids)
            logged = [
                f'{{"id":{_json_string(document_id)},{next(documents)}'
                for row, document_id in zip(rows, ids, strict=True)
                if sampled_rows is None or row in sampled_rows
            ]
            if logged or sampled_rows is None:
                yield f'{{"id":{_json_string(query_id)},"documents":[{",".join(logged)}]}}'

    def _documents(self) -> Iterator[str]:
        """Yield the rest of each document's JSON after its id: features, score and the closing brace."""
        categorical_columns = [
            column for column, name in enumerate(self.model.feature_names) if name in self.model.categories
        ]
        for row, score in zip(self.features, self.scores.tolist(), strict=True):
            values: list[Any] = row.tolist()
            for column in categorical_columns:
                values[column] = self.model.request_value(column, row[column])
            yield to_json({"features": values, "score": score}, inf_nan_mode="null").decode()[1:]


def _json_string(value: str | None) -> str:
    return to_json(value).decode()
