"""Streams of Arrow from strangers."""

from io import BytesIO
from typing import Any

import pyarrow as pa

from core.errors import InvalidInput

_COMPRESSION = 3  # the place of the field in the format's RecordBatch, of the header in its Message
_HEADER = 2


def read_table(content: bytes, pointer: str, most_rows: int) -> pa.Table:
    """Read a stream of record batches, without compression or dictionaries.

    Arrow believes what a stream says of its own sizes; what it says is checked before anything is looked at.

    Args:
        content: The stream.
        pointer: What mistakes point at.
        most_rows: The most that there may be.

    Raises:
        InvalidInput: It is damaged, compressed, or too long.
    """
    batches, rows = [], 0
    try:
        _refuse_compression(content, pointer)
        with pa.ipc.open_stream(content) as reader:
            _check_schema(reader.schema, pointer)
            for batch in reader:
                rows += batch.num_rows
                if rows > most_rows:
                    raise InvalidInput.at(
                        pointer, f"at most {most_rows} documents are scored at once by this model"
                    )
                batch.validate(full=True)
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise InvalidInput.at(
            pointer, f"this is no stream of Arrow's format: {_first_line(error)}"
        ) from error


def _check_schema(schema: pa.Schema, pointer: str) -> None:
    names: set[str] = set()
    for field in schema:
        _check_type(field, pointer)
        if field.name in names:
            raise InvalidInput.at(f"{pointer}{field.name}", "there are two columns of this name")
        names.add(field.name)


def _check_type(field: Any, pointer: str) -> None:
    kind = field.type.value_type if pa.types.is_fixed_size_list(field.type) else field.type
    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_string, pa.types.is_large_string)
    if not any(is_kind(kind) for is_kind in known):
        raise InvalidInput.at(f"{pointer}{field.name}", f"columns of {field.type} are not accepted")


def _refuse_compression(content: bytes, pointer: str) -> None:
    """Refuse compressed batches, a few bytes of which can become all the memory that there is."""
    for message in pa.ipc.MessageReader.open_stream(BytesIO(content)):
        if message.type == "record batch":
            batch = _table_of(message.metadata, _HEADER)
            if _field(message.metadata, batch, _COMPRESSION):
                raise InvalidInput.at(pointer, "send the stream without compression")


def _table_of(flatbuffer: pa.Buffer, field: int) -> int:
    root = _unsigned(flatbuffer, 0, 4)
    at = root + _field(flatbuffer, root, field)
    return at + _unsigned(flatbuffer, at, 4)


def _field(flatbuffer: pa.Buffer, table: int, field: int) -> int:
    """Return where a field is from the begin of its table, 0 where it is left out."""
    layout = table - int.from_bytes(flatbuffer[table : table + 4].to_pybytes(), "little", signed=True)
    place = 4 + 2 * field
    return _unsigned(flatbuffer, layout + place, 2) if place < _unsigned(flatbuffer, layout, 2) else 0


def _unsigned(flatbuffer: pa.Buffer, at: int, size: int) -> int:
    return int.from_bytes(flatbuffer[at : at + size].to_pybytes(), "little")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["it is damaged"])[0][:200]
