"""Bytes compared with their checksums before use."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import ArtifactDamaged, NotFound
from core.store import Store
from core.store.artifacts.checksums import ChecksummedFile

KEY = "models/mdl_1/model.txt"
CONTENT = json.dumps({"values": list(range(100))}).encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
Read = Callable[[Store], bytes]


def read_bytes(store: Store) -> bytes:
    """Read with a checksum that the caller has, from the row of a model, for example."""
    return store.verified.read_bytes(KEY, SHA256)


def read_local(store: Store) -> bytes:
    """Read as a file on this machine."""
    with store.verified.local(KEY) as path:
        content = Path(path).read_bytes()
        json.loads(content)
    return content


def read_open(store: Store) -> bytes:
    """Read through an open file."""
    with store.verified.open(KEY) as file:
        content = file.read()
        json.loads(content)
    return content


READS = pytest.mark.parametrize("read", [read_bytes, read_local, read_open])
READS_BY_RECORD = pytest.mark.parametrize("read", [read_local, read_open])


@pytest.fixture
def written(store: Store) -> Store:
    """A store with an artifact that a worker has written."""
    with store.artifacts.writing(KEY) as file:
        checksummed = ChecksummedFile(file)
        checksummed.write(CONTENT[:10])
        checksummed.write(CONTENT[10:])
    assert (checksummed.sha256, checksummed.size_bytes) == (SHA256, len(CONTENT))
    with store.begin() as tx:
        tx.artifacts.record_checksum(KEY, checksummed.sha256, checksummed.size_bytes)
    return store


def damaged(store: Store) -> list[str]:
    """List the keys that are recorded as damaged."""
    with store.read() as tx:
        return tx.artifacts.damaged(9)


@READS
def test_intact_bytes_are_returned(written: Store, read: Read) -> None:
    """Reading intact bytes records no damage."""
    assert read(written) == CONTENT
    assert damaged(written) == []


@READS
@pytest.mark.parametrize("place", range(0, len(CONTENT), 97))
def test_a_changed_byte_is_found(written: Store, read: Read, place: int) -> None:
    """The change is found, whether the result can be read or not."""
    altered = CONTENT[:place] + bytes([CONTENT[place] ^ 1]) + CONTENT[place + 1 :]
    written.artifacts.write_bytes(KEY, altered)
    with pytest.raises(ArtifactDamaged) as raised:
        read(written)
    assert raised.value.key == KEY
    assert damaged(written) == [KEY]


@pytest.mark.both_stores
@READS
def test_a_missing_artifact_on_record_is_damaged(written: Store, read: Read) -> None:
    """The rows show that the artifact existed."""
    written.artifacts.delete(KEY)
    with pytest.raises(ArtifactDamaged, match="it is missing"):
        read(written)


@READS_BY_RECORD
def test_an_artifact_that_never_existed_is_not_found(store: Store, read: Read) -> None:
    """The read does not record the artifact as damaged."""
    with pytest.raises(NotFound):
        read(store)
    assert damaged(store) == []


@pytest.mark.both_stores
@READS
def test_restored_bytes_end_the_damage(written: Store, read: Read) -> None:
    """Any writer may restore the bytes."""
    written.artifacts.write_bytes(KEY, b"{}")
    with pytest.raises(ArtifactDamaged):
        read(written)
    written.artifacts.write_bytes(KEY, CONTENT)
    assert read(written) == CONTENT
    assert damaged(written) == []


@READS_BY_RECORD
def test_an_artifact_without_a_checksum_gets_one_when_it_is_read(store: Store, read: Read) -> None:
    """A successful read records the checksum, and later reads compare the bytes with it."""
    store.artifacts.write_bytes(KEY, CONTENT)
    assert read(store) == CONTENT
    with store.read() as tx:
        row = tx.artifacts.find(KEY)
    assert row is not None
    assert (row.sha256, row.size_bytes) == (SHA256, len(CONTENT))
    store.artifacts.write_bytes(KEY, b"[]")
    with pytest.raises(ArtifactDamaged):
        read(store)


@READS_BY_RECORD
def test_an_unreadable_artifact_without_a_checksum_is_damaged(store: Store, read: Read) -> None:
    """The artifact is damaged, and the next read does not accept its bytes."""
    store.artifacts.write_bytes(KEY, CONTENT[:-1])
    for _ in range(2):
        with pytest.raises(ArtifactDamaged, match="cannot be read"):
            read(store)
        assert damaged(store) == [KEY]


@READS_BY_RECORD
def test_a_mistake_of_the_reader_is_not_reported_as_damage(written: Store, read: Read) -> None:
    """An error of a reader of intact bytes is not recorded."""
    reader = written.verified.local if read is read_local else written.verified.open
    with pytest.raises(ValueError, match="my mistake"), reader(KEY):
        raise ValueError("my mistake")
    assert damaged(written) == []


def test_an_artifact_that_is_read_in_parts_is_compared_once(
    written: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All bytes are compared once per written version; equal bytes within a second are one version on S3."""
    assert read_open(written) == CONTENT
    compared = []
    record_of = written.verified._record_of
    monkeypatch.setattr(written.verified, "_record_of", lambda key: compared.append(key) or record_of(key))  # type: ignore[func-returns-value]
    assert read_open(written) == CONTENT
    assert compared == []
    written.artifacts.write_bytes(KEY, CONTENT)
    assert read_open(written) == CONTENT
    assert compared == [KEY] or (compared == [] and not written.artifacts.is_local)
    compared.clear()
    written.verified.check(KEY, again=True)
    assert compared == [KEY]
