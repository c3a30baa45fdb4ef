"""Read untrusted Arrow streams."""

import pyarrow as pa

from app.scoring.arrow_headers import DeclaredStream, damaged
from core.errors import InvalidInput


def read_table(stream: DeclaredStream, pointer: str) -> pa.Table:
    """Read the record batches of a stream with validated headers.

    Args:
        stream: The stream.
        pointer: JSON pointer of the errors.

    Raises:
        InvalidInput: The stream is damaged, or two columns have the same name.
    """
    try:
        with pa.ipc.open_stream(stream.content) as reader:
            _check_names(reader.schema.names, pointer)
            batches = list(reader)
            for batch in batches:
                batch.validate(full=True)
            return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise damaged(pointer, error) from error


def _check_names(names: list[str], pointer: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInput.at(f"{pointer}{name}", "two columns have this name")
        seen.add(name)
