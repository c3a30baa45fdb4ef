"""Storage usage by kind: every artifact and every kind of object is counted."""

import inspect
from types import FunctionType, MappingProxyType

import pytest

from core.jobs import folders
from core.store import Store
from core.store.artifacts import keys
from core.store.clock import utc_now
from core.store.lifecycle.retention import RetentionPolicy
from core.store.lifecycle.storage import FOLDERS, LABELS, OTHER, measure_storage

_KEYS = [
    each
    for module in (keys, folders)
    for name, each in inspect.getmembers(module, inspect.isfunction)
    # Files beside the data are left out: their functions take the key of the data.
    if name.endswith(("_key", "_folder")) and "data_key" not in inspect.signature(each).parameters
]


@pytest.mark.parametrize("key_of", _KEYS, ids=lambda each: each.__name__)
def test_every_artifact_has_a_kind(key_of: FunctionType) -> None:
    """An artifact of no kind would count as other files, which cannot be freed."""
    key = key_of(*("1" for _ in inspect.signature(key_of).parameters))
    tops = {top for kind in FOLDERS.values() for top in kind}
    assert key.partition("/")[0] in tops


def test_samples_and_reports_of_drift_are_counted(store: Store) -> None:
    """Samples have bytes; reports have rows only."""
    now = utc_now()
    with store.begin() as tx:
        tx.drift.add_samples(
            "smp_1", models=["web"], requests=2, sha256="0" * 64, size_bytes=3, first_at=now, last_at=now
        )
    store.artifacts.write_bytes(keys.samples_key("smp_1"), b"abc")
    found = {
        kind.name: kind
        for kind in measure_storage(store, RetentionPolicy(MappingProxyType({}), None, 7)).kinds
    }
    assert found.keys() == LABELS.keys() == FOLDERS.keys()
    assert (found["score-samples"].objects, found["score-samples"].size_bytes) == (1, 3)
    assert (found["drift-reports"].objects, found["drift-reports"].size_bytes) == (0, 0)
    assert found[OTHER].size_bytes == 0
