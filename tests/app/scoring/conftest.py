"""Scoring requests of several forms."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from app.scoring.tables import MEDIA_TYPE
from tests.app.conftest import TestClient


def arrow_stream(table: pa.Table, batch_rows: int | None = None, **options: Any) -> bytes:
    """Return a table as an Arrow stream in batches, by default two; options as of `IpcWriteOptions`."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=batch_rows or max(2, len(table) // 2))
    return bytes(sink.getvalue())


def rank_stream(client: TestClient, content: bytes, query: str = "") -> Any:
    """Rank the rows of an Arrow stream by the model `web`."""
    return client.post(f"/v1/models/web/rank{query}", content=content, headers={"Content-Type": MEDIA_TYPE})


def rank_rows(client: TestClient, features: Sequence[Any], **members: Any) -> Any:
    """Rank documents with these features, named by their position, by the model `web`."""
    documents = [{"id": str(row), "features": each} for row, each in enumerate(features)]
    body = {"queries": [{"id": "q", "documents": documents}], **members}
    return client.post("/v1/models/web/rank", json=body)


def scores_by_row(answer: Any) -> list[float]:
    """Return the scores of the documents of `rank_rows`, in their order in the request."""
    assert answer.status_code == 200, answer.text
    ranked = {document["id"]: document["score"] for document in answer.json()["queries"][0]["ranking"]}
    return [ranked[str(row)] for row in range(len(ranked))]
