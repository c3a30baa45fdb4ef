"""Uploads, artifacts and the database on a full disk."""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from app import ApiSettings
from core.errors import StoreFull
from core.store import Store
from core.store.artifacts.artifacts import Artifacts
from tests.app.conftest import TestClient
from tests.faults.disk import NOT_MOUNTED, mounted

pytestmark = pytest.mark.embedded  # no test depends on the store

LETOR = b"1 qid:1 1:1\n"
MEBIBYTE = 2**20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two mebibytes."""
    folder = tmp_path / "disk"
    with mounted(folder, "2m") as is_mounted:
        if not is_mounted:
            pytest.skip(NOT_MOUNTED)
        yield folder


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class TestReserve:
    """An upload must leave the free space that the settings reserve."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Settings that reserve more space than any disk has."""
        return settings.model_copy(update={"min_free_bytes": 2**60})

    @pytest.mark.parametrize("path", ["/v1/datasets", "/v1/rankings"])
    def test_an_upload_beyond_the_reserve_is_refused(
        self, client: TestClient, settings: ApiSettings, path: str
    ) -> None:
        """The answer is 507 before the body is read, and neither a dataset nor a file remains."""

        def unread() -> Iterator[bytes]:
            raise AssertionError("the body was read")
            yield b""

        content_type = {"content-type": "multipart/form-data; boundary=XX"}
        answer = client.post(path, content=unread(), headers=content_type)
        assert answer.status_code == 507
        assert answer.json()["type"] == "/problems/insufficient-storage"
        assert "stay free" in answer.json()["detail"]
        assert client.get("/v1/datasets").json()["items"] == []
        assert _files(settings.data_dir / "artifacts") == []


class TestSmallDisk:
    """An upload that fills the disk."""

    @pytest.fixture
    def settings(self, settings: ApiSettings, small_disk: Path) -> ApiSettings:
        """Settings with artifacts on a small disk."""
        update = {
            "storage_url": f"file://{small_disk}",
            "max_upload_bytes": 8 * MEBIBYTE,
            "min_free_bytes": 0,
        }
        return settings.model_copy(update=update)

    @pytest.mark.parametrize("min_free_bytes", [0, MEBIBYTE])
    def test_an_upload_that_fills_the_disk_leaves_nothing(
        self, client: TestClient, settings: ApiSettings, small_disk: Path, min_free_bytes: int
    ) -> None:
        """The answer is 507 and all files are removed, so that a smaller upload fits again."""
        object.__setattr__(settings, "min_free_bytes", min_free_bytes)
        head = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'

        def body() -> Iterator[bytes]:  # of unknown length, so that it cannot be checked in advance
            yield head
            for _ in range(64):
                yield LETOR * 5_000

        content_type = {"content-type": "multipart/form-data; boundary=XX"}
        answer = client.post("/v1/datasets", content=body(), headers=content_type)
        assert answer.status_code == 507
        assert client.get("/v1/datasets").json()["items"] == []
        assert _files(small_disk) == []
        assert client.post("/v1/datasets", files={"file": ("a", LETOR * 10)}).status_code == 202

    def test_artifacts_report_a_full_disk(self, small_disk: Path) -> None:
        """Writing raises StoreFull, and no partial file remains."""
        artifacts = Artifacts(f"file://{small_disk}")
        with pytest.raises(StoreFull, match="no space left for a/b"):
            artifacts.write_bytes("a/b", b"x" * 3 * MEBIBYTE)
        assert _files(small_disk) == []
        assert artifacts.free_bytes() > MEBIBYTE


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_an_exceeded_quota_is_reported_like_a_full_disk(tmp_path: Path, code: int) -> None:
    """A used-up quota of the file system raises the same error as a full disk."""
    artifacts = Artifacts(f"file://{tmp_path}")
    with pytest.raises(StoreFull), artifacts.writing("a/b"):
        raise OSError(code, "full")
    assert _files(tmp_path) == []


def test_a_database_on_a_full_disk_raises_store_full(
    settings: ApiSettings, full_database: Callable[[Store], None]
) -> None:
    """The error of SQLite for a full disk becomes StoreFull."""
    store = Store.open(settings)
    store.migrate()
    full_database(store)
    with pytest.raises(StoreFull), store.begin() as tx:
        tx.jobs.add("train", {"text": "x" * 10**6})
    store.close()


@pytest.fixture
def full_database() -> Callable[[Store], None]:
    """Function that stops a database from growing."""

    def fill(store: Store) -> None:
        event.listen(
            store._engine,
            "begin",
            lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 1"),
        )

    return fill
