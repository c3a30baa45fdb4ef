"""Completion of multipart uploads whose response is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store.artifacts.multipart import _complete


class _Bucket:
    """An S3 that raises errors one after another, with an object of some size."""

    def __init__(self, size_bytes: int, *outcomes: Exception | None) -> None:
        self._size_bytes = size_bytes
        self._outcomes = list(outcomes)

    def call_s3(self, _name: str, **_arguments: Any) -> None:
        outcome = self._outcomes.pop(0)
        if outcome is not None:
            raise outcome

    def size(self, path: str) -> int:
        assert path == "bucket/key"
        return self._size_bytes

    def complete(self) -> None:
        def run(action: Callable[[Any], None]) -> None:
            try:
                action(self)
            except ConnectionError:
                action(self)

        _complete({"Bucket": "bucket", "Key": "key", "UploadId": "u"}, [], 10, run)


def test_a_lost_response_of_a_completed_upload_is_no_failure() -> None:
    """The retry finds no upload, but an object of the right size."""
    _Bucket(10, ConnectionError(), FileNotFoundError()).complete()


@pytest.mark.parametrize(
    ("size_bytes", "outcomes"), [(9, (ConnectionError(), FileNotFoundError())), (10, (FileNotFoundError(),))]
)
def test_an_upload_that_is_gone_is_a_failure(size_bytes: int, outcomes: tuple[Exception, ...]) -> None:
    """The object is of an earlier upload if its size differs, or if no attempt went before."""
    with pytest.raises(FileNotFoundError):
        _Bucket(size_bytes, *outcomes).complete()
