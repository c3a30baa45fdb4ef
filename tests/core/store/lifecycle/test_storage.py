"""Storage usage by kind: every artifact and every kind of object is counted."""

import inspect
from datetime import timedelta
from types import FunctionType, MappingProxyType

import pytest
from sqlalchemy import insert

from core.jobs import folders
from core.store import Store, StoreSettings
from core.store.artifacts import keys
from core.store.clock import utc_now
from core.store.engines import for_writing, open_engine
from core.store.lifecycle.retention import RetentionPolicy
from core.store.lifecycle.storage import FOLDERS, LABELS, OTHER, measure_storage
from core.store.tables import ScoreSamples

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


def test_samples_expire_in_short_transactions(store: Store, settings: StoreSettings) -> None:
    """Thousands of artifacts beyond the limit expire 500 at a time."""
    now = utc_now()
    row = {"models": ["web"], "requests": 1, "size_bytes": 1, "first_at": now}
    rows = [row | {"id": f"smp_{i:06}", "last_at": now + timedelta(seconds=i)} for i in range(2_000)]
    engine = for_writing(open_engine(settings.database_url))
    with engine.begin() as connection:
        connection.execute(insert(ScoreSamples.__table__), rows)  # type: ignore[arg-type]
    engine.dispose()
    with store.begin() as tx:
        tx.artifacts.record_checksum(keys.samples_key("smp_000000"), "0" * 64, 1)
        expired = tx.drift.expire_samples(max_bytes=10)
        assert expired == [keys.samples_folder(f"smp_{i:06}") for i in range(500)]
        assert tx.artifacts.find(keys.samples_key("smp_000000")) is None
        assert tx.trash.pending(1_000) == expired
        assert tx.drift.expire_samples(max_bytes=1_500) == []
        assert tx.drift.expire_samples(max_bytes=1_499) == [keys.samples_folder("smp_000500")]
