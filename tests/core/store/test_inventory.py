"""The inventory: artifacts that are damaged, missing, unverified or orphaned."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.store import Model, Store, new_id
from core.store.artifacts.keys import checkpoint_key, dataset_upload_key, model_key, queries_key, run_key
from core.store.lifecycle.inventory import Inventory, take_inventory

TEXT = b"tree\n"
DATA_KEY = "data/job_1-1/data.parquet"
HOURS_AGO = 3 * 3600


@pytest.fixture
def artifact_keys(store: Store, add_model: Callable[[str], Model]) -> dict[str, str]:
    """The keys of the intact artifacts of a model and a dataset."""
    model = add_model("web")
    keys = {"model": model_key(model.id), "data": DATA_KEY, "queries": queries_key(DATA_KEY)}
    with store.begin() as tx:
        dataset = tx.datasets.add("d", {"kind": "upload"})
        tx.datasets.mark_ready(dataset.id, statistics={}, digest="d", data_key=DATA_KEY)
        for key in keys.values():
            store.artifacts.write_bytes(key, TEXT)
            tx.artifacts.record_checksum(key, hashlib.sha256(TEXT).hexdigest(), len(TEXT))
    return keys


def write_long_ago(store: Store, key: str) -> None:
    """Write an artifact that was not touched for hours."""
    store.artifacts.write_bytes(key, TEXT)
    with store.artifacts.local(key) as path:
        then = path.stat().st_mtime - HOURS_AGO
        os.utime(path, (then, then))


def test_an_intact_store_has_no_problems(store: Store, artifact_keys: dict[str, str]) -> None:
    """The inventory has no problems."""
    assert take_inventory(store) == Inventory(artifacts=3)


@pytest.mark.both_stores
@pytest.mark.parametrize("name", ["model", "data", "queries"])
def test_damaged_and_missing_artifacts_are_found(
    store: Store, artifact_keys: dict[str, str], name: str
) -> None:
    """Each such artifact is named, and is recorded as damaged until its bytes are restored."""
    store.artifacts.write_bytes(artifact_keys[name], TEXT[:-1] + b"!")
    assert take_inventory(store) == Inventory(artifacts=3, damaged=[artifact_keys[name]])
    store.artifacts.delete(artifact_keys[name])
    assert take_inventory(store) == Inventory(artifacts=3, missing=[artifact_keys[name]])
    with store.read() as tx:
        assert tx.artifacts.damaged(9) == [artifact_keys[name]]
    store.artifacts.write_bytes(artifact_keys[name], TEXT)
    assert take_inventory(store) == Inventory(artifacts=3)
    with store.read() as tx:
        assert tx.artifacts.damaged(9) == []


@pytest.mark.embedded  # object stores set the time themselves
def test_a_change_that_keeps_size_and_time_is_found(store: Store, artifact_keys: dict[str, str]) -> None:
    """All bytes are read, whatever was compared before."""
    assert take_inventory(store) == Inventory(artifacts=3)
    with store.artifacts.local(artifact_keys["data"]) as path:
        before = path.stat()
        with path.open("r+b") as file:
            file.write(b"T")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert take_inventory(store).damaged == [artifact_keys["data"]]


def test_an_artifact_without_a_checksum_is_unverified(store: Store, artifact_keys: dict[str, str]) -> None:
    """An artifact from a release that kept no checksums is present, and unverified."""
    with store.begin() as tx:
        tx.artifacts.delete_checksums("data/job_1-1")
    assert take_inventory(store) == Inventory(artifacts=2, unverified=[DATA_KEY])


@pytest.mark.embedded
def test_old_files_without_a_row_are_orphaned(store: Store, artifact_keys: dict[str, str]) -> None:
    """Old files without a row are orphaned, except those of a dataset or job in progress."""
    with store.begin() as tx:
        training = tx.jobs.add("train", {})
        pending = tx.datasets.add("e", {"kind": "upload"}, new_id("ds_"))
    write_long_ago(store, "models/mdl_gone/model.txt")
    write_long_ago(store, run_key("run_gone"))
    store.artifacts.write_bytes("models/mdl_young/model.txt", TEXT)
    write_long_ago(store, checkpoint_key(training.id, 1, 5))
    write_long_ago(store, dataset_upload_key(pending.id))
    write_long_ago(store, "data/job_1-1/features.json")
    found = take_inventory(store)
    assert found.orphaned == ["models/mdl_gone/model.txt", run_key("run_gone")]
    assert replace(found, orphaned=[]) == Inventory(artifacts=3)


@pytest.mark.embedded
def test_a_result_that_is_stored_during_the_inventory_is_not_orphaned(
    store: Store, artifact_keys: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The verification of many artifacts takes hours, in which jobs store their results."""
    clock = tmp_path / "clock"
    clock.write_text("0")
    monkeypatch.setenv("RANKERY_TEST_CLOCK", str(clock))

    def check_for_hours(key: str, *, again: bool) -> bool:
        store.artifacts.write_bytes("models/mdl_new/model.txt", TEXT)
        clock.write_text(str(HOURS_AGO))
        return again

    monkeypatch.setattr(store.verified, "check", check_for_hours)
    assert take_inventory(store) == Inventory(artifacts=3)
