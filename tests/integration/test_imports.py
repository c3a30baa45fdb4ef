"""Imports from HTTPS and S3 by real processes; `test_source_urls.py` is the long form."""

import hashlib
import os
import signal

import fsspec
import pytest

from rankery.client import Client
from tests.integration.requests import not_none
from tests.integration.test_source_urls import letor_text
from tests.integration.waiting import LIMIT_SECONDS
from tests.servers import S3Server
from tests.servers.web import WebFile, WebServer

SIZE_BYTES = 4 * 2**20


@pytest.mark.embedded
def test_an_import_that_was_killed_half_way_is_resumed(client: Client, web: WebServer) -> None:
    """After a kill, the next attempt requests only the missing bytes; the result has the file's bytes."""
    content = letor_text(SIZE_BYTES)
    file = web.files["/half-way.txt"] = WebFile(content, bytes_per_second=SIZE_BYTES // 4)
    before = web.sent_bytes
    dataset = client.import_dataset(f"{web.url}/half-way.txt", "https", format="letor")
    web.wait_for(lambda: web.sent_bytes - before > SIZE_BYTES // 2, LIMIT_SECONDS)
    job = client.job(not_none(dataset.job_id))
    os.kill(int(job.attempts[-1].worker.rpartition("/")[2]), signal.SIGKILL)
    # The limit is removed only now, or the killed process would have received the whole file.
    file.bytes_per_second = 0
    assert dataset.wait(timeout_seconds=LIMIT_SECONDS).sha256 == hashlib.sha256(content).hexdigest()
    assert [attempt.ending for attempt in job.refresh().attempts] == ["lost", "succeeded"]
    first, *later = [each.headers.get("range") for each in web.requests if each.path == "/half-way.txt"]
    assert first is None
    assert later
    assert all(int(not_none(span)[6:-1]) > SIZE_BYTES // 4 for span in later)


@pytest.mark.servers
def test_an_object_is_imported(client: Client, source_bucket: str, s3: S3Server) -> None:
    """The import uses named credentials and a bucket that the setting of sources allows."""
    content = letor_text(2**18)
    files = fsspec.filesystem("s3", skip_instance_cache=True, **s3.options)
    files.pipe(f"{source_bucket}/train.txt", content)
    dataset = client.import_dataset(f"{source_bucket}/train.txt", "s3", credentials="bucket")
    assert dataset.wait(timeout_seconds=LIMIT_SECONDS).sha256 == hashlib.sha256(content).hexdigest()
