"""A short run of the fuzz harness; `make fuzz-datasets` is the long one."""

import pytest

from tests.core.data.fuzz import fuzz
from tests.examples import examples

FILES = examples(1_500)


@pytest.mark.long
def test_mutated_files_are_read_or_refused() -> None:
    """No file causes another exception, a crash, a hang or too much memory; some are read, some refused."""
    read = refused = 0
    for outcome in fuzz(FILES):
        assert outcome.failures == []
        read += outcome.counts["read"]
        refused += outcome.counts["refused"]
    assert read + refused == FILES
    assert min(read, refused) > FILES // 50
