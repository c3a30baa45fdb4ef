"""Candidate documents as tables of Arrow, read by Arrow itself."""

import json
import random
from typing import Any

import numpy as np
import pyarrow as pa

from app.scoring.served_models import ServedModel
from app.scoring.tables import MEDIA_TYPE
from app.settings import ApiSettings
from core.types import Float64Array
from tests.app.scoring.conftest import arrow_stream
from tests.app.scoring.differential.requests import (
    BLOCK,
    BLOCK_FEATURES,
    NAMES,
    Answer,
    ExpectedScores,
    Refused,
    Sent,
    cell,
    require,
)

_TYPES = ("float32", "float64", "float16", "int8", "uint8", "int16", "int32", "int64", "uint64")
_EDGES = (1e39, 3.4028235677973362e38, 3.4028235677973366e38, float("inf"), 5e-324)
_OTHER_TYPES = (pa.bool_(), pa.binary(), pa.date32(), pa.timestamp("s"), pa.list_(pa.float32()), pa.null())
# Refusals of headers of a stream that Arrow accepts.
_STRICTER = ("without compression", "without dictionaries", "refers to data beyond its end", "no columns")


class TableRequests:
    """Streams of record batches, with one column per feature or one column of lists."""

    name = "Arrow"

    def make(self, seed: int) -> Sent:
        """Make the Arrow request of a seed, whose stream is damaged for some seeds."""
        generator = random.Random(seed)
        table = _table(generator)
        compression = generator.choice((*(None,) * 19, "lz4"))
        batch_rows = generator.choice((1, 2, 100))
        content = bytearray(arrow_stream(table, batch_rows, compression=compression))
        for _ in range(generator.choice((0, 0, 1, 1, 2, 4))):
            _damage(content, generator)
        top_k = generator.choice(("", "", "?top_k=2"))
        return Sent(f"/v1/models/web/rank{top_k}", bytes(content), {"content-type": MEDIA_TYPE})

    def read(self, sent: Sent, settings: ApiSettings) -> ExpectedScores:
        """Read an Arrow stream as the reference does."""
        try:
            table = _read(sent.content, settings.max_rank_documents)
            names = table.column_names
        except (pa.ArrowException, ValueError, OSError) as error:
            raise Refused from error
        require(len(set(names)) == len(names) and len(names) <= len(NAMES) + 2)
        queries = _ids(table, "query_id") if "query_id" in names else [None] * len(table)
        require(_are_contiguous(queries))
        if "document_id" in names:
            pairs = list(zip(queries, _ids(table, "document_id"), strict=True))
            require(len(set(pairs)) == len(pairs))
        top_k = 2 if sent.path.endswith("2") else len(table)
        return ExpectedScores(_features(table), lambda scores: _expected(table, queries, scores, top_k))

    def is_stricter(self, answer: Answer) -> bool:
        """Return whether a refusal names one of the rules that only the service has."""
        return any(rule in json.loads(answer.content)["detail"] for rule in _STRICTER)

    def answered_scores(self, answer: Answer) -> Any:
        """Return the rows of the answered table."""
        return pa.ipc.open_stream(answer.content).read_all().to_pylist()

    def compare_readers(self, sent: Sent, model: ServedModel, settings: ApiSettings) -> tuple[bool, str]:
        """Return no difference: tables have a single reader."""
        return False, ""


def _table(generator: random.Random) -> pa.Table:
    rows = generator.randrange(7)
    columns: dict[str, Any] = {}
    if generator.random() < 0.7:
        has_numeric_ids = generator.random() < 0.3
        ids = [row // 3 if has_numeric_ids else f"q{row // 3}" for row in range(rows)]
        columns["query_id"] = pa.array(ids, None if ids else pa.string())
    if generator.random() < 0.5:
        columns["document_id"] = pa.array([f"d{row}" for row in range(rows)], pa.large_string())
    if generator.random() < 0.4:
        kind = generator.choice((pa.float32(), pa.float64()))
        values = pa.array(_numbers(rows * len(NAMES), generator), kind)
        columns["features"] = pa.FixedSizeListArray.from_arrays(values, len(NAMES))
    else:
        for name in generator.sample(NAMES, generator.randrange(len(NAMES) + 1)):
            columns[name] = _column(rows, generator)
        if generator.random() < 0.3:
            columns[BLOCK] = _lists(rows, generator)
            for name in BLOCK_FEATURES if generator.random() < 0.8 else ():
                columns.pop(name, None)
    if generator.random() < 0.05:
        columns["other"] = pa.nulls(rows, generator.choice(_OTHER_TYPES))
    items = list(columns.items())
    generator.shuffle(items)
    metadata = {"pandas": "{}"} if generator.random() < 0.3 else None
    return pa.table(dict(items)).replace_schema_metadata(metadata)


def _lists(rows: int, generator: random.Random) -> Any:
    size = len(BLOCK_FEATURES) + (generator.random() < 0.1)
    lists = [_numbers(size, generator) if generator.random() < 0.8 else None for _ in range(rows)]
    return pa.array(lists, pa.list_(generator.choice((pa.float32(), pa.float64())), size))


def _column(rows: int, generator: random.Random) -> Any:
    chosen = generator.choice(_TYPES)
    if "int" in chosen:
        limits = np.iinfo(chosen)
        whole = [generator.choice((0, 1, int(limits.max), int(limits.min), None)) for _ in range(rows)]
        return pa.array(whole, getattr(pa, chosen)())
    values = _numbers(rows, generator)
    if chosen == "float64" and rows and generator.random() < 0.2:
        values[0] = generator.choice(_EDGES)
    if chosen == "float16":
        return pa.array([None if value is None else np.float16(value) for value in values], pa.float16())
    return pa.array(values, getattr(pa, chosen)())


def _numbers(count: int, generator: random.Random) -> list[float | None]:
    return [generator.choice((None, 0.0, cell(generator), cell(generator))) for _ in range(count)]


def _damage(content: bytearray, generator: random.Random) -> None:
    at = generator.randrange(len(content) + 1)
    kind = generator.randrange(6)
    if kind == 0:
        del content[at:]
    elif kind == 1:
        del content[at : at + generator.choice((1, 4, 8))]
    elif kind == 2:
        content[at:at] = generator.randbytes(generator.choice((1, 4, 8)))
    elif kind == 3:
        at -= at % 4
        content[at : at + 4] = generator.choice((0, 1, 2, 16, 2**31 - 1, 2**32 - 1)).to_bytes(4, "little")
    elif kind == 4:
        at -= at % 8
        content[at : at + 8] = generator.choice((1, 7, 2**40, 2**63 - 1, 2**64 - 1)).to_bytes(8, "little")
    elif at < len(content):
        content[at] ^= 1 << generator.randrange(8)


def _read(content: bytes, max_rows: int) -> pa.Table:
    """Read a stream with Arrow alone; refuse too many rows before a batch is validated."""
    batches, rows = [], 0
    with pa.ipc.open_stream(content) as reader:
        for field in reader.schema:
            require(_is_known(field.type))
        for batch in reader:
            rows += batch.num_rows
            require(rows <= max_rows)
            batch.validate(full=True)
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)


def _is_known(kind: Any) -> bool:
    if pa.types.is_fixed_size_list(kind):
        kind = kind.value_type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(texts or pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _ids(table: pa.Table, name: str) -> list[Any]:
    kind = table.schema.field(name).type
    require(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))
    values = table.column(name).to_pylist()
    require(None not in values)
    return values


def _are_contiguous(queries: list[Any]) -> bool:
    first = [query for row, query in enumerate(queries) if row == 0 or query != queries[row - 1]]
    return len(set(first)) == len(first)


def _features(table: pa.Table) -> Float64Array:
    names = [name for name in table.column_names if name not in ("query_id", "document_id")]
    if names == ["features"] and pa.types.is_fixed_size_list(table.schema.field("features").type):
        require(table.schema.field("features").type.list_size == len(NAMES))
        rows: list[Any] = table.column("features").to_pylist()
        require(None not in rows)
        return _in_range([value for row in rows for value in row]).reshape(-1, len(NAMES))
    features = np.full((len(table), len(NAMES)), np.nan)
    for name in names:
        kind = table.schema.field(name).type
        if name == BLOCK and pa.types.is_fixed_size_list(kind):
            require(kind.list_size == len(BLOCK_FEATURES) and set(BLOCK_FEATURES).isdisjoint(names))
            missing = [None] * len(BLOCK_FEATURES)
            values = [value for row in table.column(name).to_pylist() for value in row or missing]
            features[:, -len(BLOCK_FEATURES) :] = _in_range(values).reshape(-1, len(BLOCK_FEATURES))
            continue
        require(name in NAMES and (pa.types.is_integer(kind) or pa.types.is_floating(kind)))
        features[:, NAMES.index(name)] = _in_range(table.column(name).to_pylist())
    return features


def _in_range(values: list[Any]) -> Float64Array:
    numbers = np.array([np.nan if value is None else float(value) for value in values], np.float64)
    with np.errstate(over="ignore"):
        require(not np.isinf(numbers.astype(np.float32)).any())
    return numbers


def _expected(table: pa.Table, queries: list[Any], scores: Float64Array, top_k: int) -> list[dict[str, Any]]:
    columns = table.select(
        [name for name in ("query_id", "document_id") if name in table.column_names]
    ).to_pylist()
    entries = []
    for query in dict.fromkeys(queries):
        rows = sorted(
            (row for row, other in enumerate(queries) if other == query), key=lambda row: -scores[row]
        )
        for rank, row in enumerate(rows[:top_k], 1):
            ids = columns[row] if columns else {}
            entries.append({**ids, "row": row, "rank": rank, "score": float(scores[row])})
    return entries
