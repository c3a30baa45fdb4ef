"""Requests and answers that the network loses, on real sockets."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest

from rankery import AsyncClient, Client
from rankery.errors import FileUnusable, RankeryApiError, ServiceUnreachable
from tests.rankery.unreliable import Fault, Unreliable

Network = Callable[[Sequence[Fault]], Unreliable]


def test_a_retried_creation_creates_one_object(unreliable: Network) -> None:
    """A request whose answer was lost is sent again with the same idempotency key."""
    network = unreliable(["lost answer", "bad gateway", "busy", None])
    with Client(network.url) as client:
        dataset = client.synthetic_dataset(3, name="once")
        assert [one.id for one in client.datasets() if one.name == "once"] == [dataset.id]
    first, *others = network.header("Idempotency-Key")[:4]
    assert first is not None
    assert others == [first] * 3


def test_the_asynchronous_client_retries(unreliable: Network) -> None:
    """Lost requests and answers are retried for a creation, a list and a refresh."""
    network = unreliable(["no answer", "lost answer", None])

    async def work() -> None:
        async with AsyncClient(network.url) as client:
            dataset = await client.synthetic_dataset(3, name="asynchronous")
            ids = [one.id async for one in client.datasets() if one.name == "asynchronous"]
            assert ids == [dataset.id]
            assert (await (await client.dataset(dataset.id)).refresh()).status == "pending"

    asyncio.run(work())


def test_an_upload_restarts_at_the_first_byte(unreliable: Network, tmp_path: Path) -> None:
    """The service gets the whole file and creates one dataset."""
    path = tmp_path / "again.txt"
    path.write_text("".join(f"{i % 3} qid:{i // 9} 1:{i}\n" for i in range(20_000)))
    network = unreliable(["no answer", "lost answer", None])
    with Client(network.url) as client:
        dataset = client.upload_dataset(path)
        assert dataset.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert [one.id for one in client.datasets() if one.name == "again.txt"] == [dataset.id]


@pytest.mark.parametrize("size_bytes", [8, 9])
def test_an_upload_in_pieces_has_the_bytes_of_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size_bytes: int
) -> None:
    """A file that is replaced between two pieces is refused: the service would get parts of both."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "replaced.txt"
    path.write_bytes(b"a" * 8)

    def store_half(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            return httpx.Response(201, json={"id": "upl_1"})
        if path.read_bytes() == b"a" * 8:
            (tmp_path / "new").write_bytes(b"b" * size_bytes)
            (tmp_path / "new").replace(path)
        return httpx.Response(204, headers={"Upload-Offset": "4"})

    transport = httpx.MockTransport(store_half)
    with (
        Client("http://example.org", transport=transport, resumable_bytes=1) as client,
        pytest.raises(FileUnusable, match=r"replaced\.txt was changed while it was sent"),
    ):
        client.upload_dataset(path)


def test_a_file_that_a_disk_cannot_read_is_named() -> None:
    """Linux names no file with an error of reading; the first bytes of a process's memory give one."""
    transport = httpx.MockTransport(lambda request: httpx.Response(201, content=request.read()))
    with (
        Client("http://example.org", transport=transport) as client,
        pytest.raises(FileUnusable, match="/proc/self/mem cannot be read: Input/output error"),
    ):
        client.upload_dataset("/proc/self/mem")


def test_a_download_does_not_need_the_partial_file_of_another(tmp_path: Path) -> None:
    """A partial file may have been completed between its listing and its opening, or be of another user."""
    (tmp_path / f".web.txt.{'0' * 32}.part").symlink_to(tmp_path / "gone")
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=b"tree"))
    with Client("http://example.org", transport=transport) as client:
        assert client.export("web", "lightgbm", tmp_path / "web.txt").read_bytes() == b"tree"


def test_a_request_that_is_not_repeatable_is_not_retried(unreliable: Network) -> None:
    """The client raises an error, since the lost answer may have had a job for the alias's gate."""
    network = unreliable(["lost answer"])
    with Client(network.url) as client, pytest.raises(ServiceUnreachable, match=network.url):
        client.set_alias("web", "champion", 1)
    assert len(network.requests) == 1


def test_a_retried_deletion_names_the_missing_object(unreliable: Network) -> None:
    """The numbers of deleted objects were lost with the first answer; another deletion is refused."""
    network = unreliable([None, None, None, "lost answer"])
    with Client(network.url) as client:
        client.synthetic_dataset(3)
        job = next(iter(client.jobs())).cancel()
        deletion = job.delete()
        assert (deletion.deleted, deletion.missing) == ({}, [job.id])
        with pytest.raises(RankeryApiError, match=job.id):
            job.delete()


def test_a_page_of_a_proxy_is_no_answer_to_a_retried_deletion() -> None:
    """A proxy may answer 502, then 404 with a page, while the service restarts."""
    answers = [httpx.Response(502), httpx.Response(404, html="<p>unknown host</p>")]
    transport = httpx.MockTransport(lambda _: answers.pop(0))
    with (
        Client("http://rankery.test", transport=transport) as client,
        pytest.raises(RankeryApiError, match="404 Not Found"),
    ):
        client.delete_interleaving("itl_1")
    assert answers == []


@pytest.mark.parametrize(("first", "attempts"), [(502, 3), (503, 2)])
def test_a_conflict_is_retried_while_a_lost_attempt_may_run(first: int, attempts: int) -> None:
    """The service answers 409 to the key of a running request; after 503, nothing runs."""
    answers = [httpx.Response(first), httpx.Response(409), httpx.Response(404)]
    transport = httpx.MockTransport(lambda _: answers.pop(0))
    with Client("http://example.org", transport=transport) as client, pytest.raises(RankeryApiError):
        client.synthetic_dataset(3)
    assert len(answers) == 3 - attempts


def test_a_webhook_is_not_created_twice(unreliable: Network) -> None:
    """The service takes no key for the request, so that a retry would create a second webhook."""
    network = unreliable(["lost answer"])
    with Client(network.url) as client, pytest.raises(ServiceUnreachable):
        client.create_webhook("https://ci.example.com/hooks")
    assert len(network.requests) == 1


def test_the_number_of_retries_is_limited(unreliable: Network) -> None:
    """The client raises the last answer after all retries."""
    network = unreliable(["busy"] * 9)
    with Client(network.url, retries=2) as client, pytest.raises(RankeryApiError, match="503") as refused:
        client.dataset("ds_1")
    assert refused.value.status == 503
    assert len(network.requests) == 3
