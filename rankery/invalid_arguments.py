"""Conversion of core errors to errors of the library."""

from collections.abc import Iterator
from contextlib import contextmanager

from rankery.errors import InvalidArgument

_ARGUMENTS = {"label_map": "labels", "dataset_id": "data"}  # names in jobs, and names in the library


@contextmanager
def convert_invalid_input() -> Iterator[None]:
    """Convert core errors in the block to `InvalidArgument`, with the argument names of the library."""
    from core.errors import InvalidInput

    try:
        yield
    except InvalidInput as invalid:
        problems = [
            (problem.pointer.lstrip("/").replace("/", "."), problem.detail) for problem in invalid.problems
        ]
        sentences = (f"{_ARGUMENTS.get(pointer, pointer)}: {detail}" for pointer, detail in problems)
        raise InvalidArgument("; ".join(sentence.removeprefix(": ") for sentence in sentences)) from None
