"""Judged files in buckets that may be read without an upload."""

from itertools import product
from pathlib import Path

import fsspec
import pytest

from core.errors import DatasetError, InvalidInput, StoreUnavailable
from core.store import StoreSettings
from core.store.buckets import Buckets
from core.store.data_files import DataFiles
from tests.servers import S3Server
from tests.servers.process import reserved_port

pytestmark = pytest.mark.long


@pytest.fixture
def bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder of a bucket, with three files in `a`; other files are outside the folder."""
    url, environment = s3.new_bucket()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    files = fsspec.filesystem("s3", skip_instance_cache=True)
    for name in ("a/part-10", "a/part-2", "a/_SUCCESS", "a/inner/part-3", "b/part-1"):
        files.pipe(f"{url}/{name}", name.encode())
    location = {"Bucket": url.split("/")[2], "Key": f"{'/'.join(url.split('/')[3:])}/a/"}
    files.call_s3("put_object", Body=b"", **location)  # as a console creates the folder
    files.pipe(f"{url.rpartition('/')[0]}/private/part-1", b"private")
    files.pipe(f"{url}-more/part-1", b"beside")
    return url


def buckets(*roots: Path | str) -> Buckets:
    """Return the buckets of a setting."""
    return Buckets(roots, 0.5)


def test_objects_are_found_and_read(bucket: str) -> None:
    """Objects of the folder itself are found, in natural order, with their size."""
    found = buckets(bucket).find(f"{bucket}/a/", "part-*")
    assert found.folder == f"{bucket}/a"
    assert found.names == ("part-2", "part-10")
    assert buckets(bucket).find(f"{bucket}/a/", "*") == found
    assert found.size_bytes == len("a/part-2") + len("a/part-10")
    assert found.modified.endswith("+00:00")
    reported: list[tuple[int, int]] = []
    with buckets(bucket).opened(found.folder, "part-10", lambda *done: reported.append(done)) as file:
        assert file.path.read_bytes() == b"a/part-10"
    assert reported == [(9, 9)]
    assert not file.path.exists()


def test_nothing_outside_the_roots_is_found(bucket: str) -> None:
    """Whole names are compared with roots; a missing folder gives the same error."""
    for beside in ("-more", "/..", "/../private", "/a/../../private", "//a", "/none"):
        with pytest.raises(InvalidInput, match="must be a folder of a bucket below RANKERY_DATA_ROOTS"):
            buckets(bucket).find(bucket + beside, "*")
        with pytest.raises(DatasetError, match="expected an object below RANKERY_DATA_ROOTS"):
            buckets(bucket).opened(bucket + beside, "part-1").__enter__()


def test_other_buckets_are_refused(bucket: str) -> None:
    """By default all buckets are refused; a URL cannot have credentials."""
    urls = ("s3://other/a", "s3://", "s3://user:secret@rankery-1/a", "gs://bucket/a")
    for url, roots in product(urls, ((), (bucket,), (Path("/"), bucket))):
        with pytest.raises(InvalidInput, match="RANKERY_DATA_ROOTS"):
            DataFiles(roots, 0.5).find(url, "*")


def test_an_object_that_changes_is_refused(bucket: str) -> None:
    """The object changes while it is copied."""

    def change(*_: int) -> None:
        fsspec.filesystem("s3", skip_instance_cache=True).pipe(f"{bucket}/a/part-2", b"other")

    with pytest.raises(DatasetError, match=r"part-2: .* it changed while it was read"):
        buckets(bucket).opened(f"{bucket}/a", "part-2", change).__enter__()


def test_a_storage_that_does_not_answer_is_reported(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error does not contain its address; a job is then tried again."""
    with reserved_port() as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        with pytest.raises(StoreUnavailable, match=r"^the bucket (refuses connections|fails)$"):
            buckets(bucket).find(f"{bucket}/a", "*")


def test_the_setting_takes_folders_and_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A URL of another kind is refused when the process starts."""
    monkeypatch.setenv("RANKERY_DATA_ROOTS", "/corpora, s3://clicks/2026/")
    assert StoreSettings().data_roots == [Path("/corpora"), "s3://clicks/2026"]
    for wrong in ("gs://clicks", "s3://", "s3://key:secret@clicks/a", "file:///corpora"):
        monkeypatch.setenv("RANKERY_DATA_ROOTS", wrong)
        with pytest.raises(ValueError, match="URLs such as s3://bucket/prefix"):
            StoreSettings()
