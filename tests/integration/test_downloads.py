"""Downloads from a running service over connections that break."""

import fcntl
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import RankeryApiError, ServiceUnreachable
from tests.integration.waiting import LIMIT_SECONDS
from tests.rankery.unreliable import Fault, Unreliable

pytestmark = pytest.mark.embedded

CUT = 100_000  # bytes of an answer


@pytest.fixture
def whole(client: Client, datasets: dict[str, str], tmp_path: Path) -> bytes:
    """The bytes of an undisturbed download."""
    return client.dataset(datasets["test"]).download(tmp_path / "whole.parquet").read_bytes()


def faulty_network(stack: EmbeddedStack, faults: Sequence[Fault]) -> Unreliable:
    """Return a proxy in front of the service whose requests after the first have faults."""
    host, _, port = stack.url.removeprefix("http://").partition(":")
    return Unreliable((host, int(port)), [None, *faults])


def partial_files(folder: Path) -> list[Path]:
    """Return the partial files of downloads."""
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def first_bytes(network: Unreliable) -> list[int]:
    """Return the offset that each request asked for."""
    return [
        0 if span is None else int(span.removeprefix("bytes=").removesuffix("-"))
        for span in network.header("Range")[1:]
    ]


def test_a_broken_download_resumes_at_its_offset(
    stack: EmbeddedStack, datasets: dict[str, str], whole: bytes, tmp_path: Path
) -> None:
    """A download resumes more often than the limit of retries, as long as some bytes arrive each time."""
    path = tmp_path / "resumed.parquet"
    faults: list[Fault] = [CUT, "no answer", CUT // 2, "busy", CUT // 2, None]
    with faulty_network(stack, faults) as network, Client(network.url, retries=2) as client:
        client.dataset(datasets["test"]).download(path)
        started = first_bytes(network)
    assert path.read_bytes() == whole
    assert pq.read_table(path).num_rows > 0
    assert started[0] == 0
    assert 0.9 * CUT < started[1] == started[2] < CUT
    assert started[2] + 0.4 * CUT < started[3] == started[4] < started[5]
    assert not partial_files(tmp_path)


def test_the_next_download_resumes(
    stack: EmbeddedStack, datasets: dict[str, str], whole: bytes, tmp_path: Path
) -> None:
    """A later download continues the partial file; a partial file of another version is not used."""
    path = tmp_path / "later.parquet"
    with faulty_network(stack, [CUT]) as network, Client(network.url, retries=0) as client:
        dataset = client.dataset(datasets["test"])
        with pytest.raises(ServiceUnreachable):
            dataset.download(path)
    assert not path.exists()
    (part,) = partial_files(tmp_path)
    assert whole.startswith(part.read_bytes())
    size = part.stat().st_size
    stale = tmp_path / f".stale.parquet.{'0' * 32}.part"
    stale.write_bytes(b"of another version")
    with faulty_network(stack, []) as network, Client(network.url) as client:
        dataset = client.dataset(datasets["test"])
        assert dataset.download(path).read_bytes() == whole
        assert dataset.download(tmp_path / "stale.parquet").read_bytes() == whole
        assert first_bytes(network) == [size - 1, 17]
    assert not partial_files(tmp_path)


def test_a_part_of_a_running_download_is_left_alone(
    client: Client, datasets: dict[str, str], whole: bytes, tmp_path: Path
) -> None:
    """A partial file that another process has locked is neither used nor removed."""
    path, dataset = tmp_path / "twice.parquet", client.dataset(datasets["test"])
    etag = client.request("HEAD", f"/v1/datasets/{dataset.id}/download").headers["ETag"].strip('"')
    part = tmp_path / f".{path.name}.{etag}.part"
    with part.open("wb") as other:
        other.write(b"wrong bytes")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        assert dataset.download(path).read_bytes() == whole
    assert partial_files(tmp_path) == [part]


def test_a_refused_download_leaves_nothing(client: Client, tmp_path: Path) -> None:
    """Neither a file nor a partial file is left."""
    dataset = client.synthetic_dataset(3).wait(timeout_seconds=LIMIT_SECONDS)
    dataset.delete()
    (tmp_path / f".gone.parquet.{'0' * 32}.part").write_bytes(b"of a dataset that was deleted")
    with pytest.raises(RankeryApiError):
        dataset.download(tmp_path / "gone.parquet")
    assert not list(tmp_path.iterdir())


def test_letor_downloads_cannot_be_resumed(
    stack: EmbeddedStack, client: Client, datasets: dict[str, str], tmp_path: Path
) -> None:
    """LETOR text is generated while it is sent, so no partial file is kept."""
    path = tmp_path / "whole.letor"
    client.dataset(datasets["test"]).download(path, "letor")
    with faulty_network(stack, [CUT // 10]) as network, Client(network.url, retries=0) as far:
        dataset = far.dataset(datasets["test"])
        with pytest.raises(ServiceUnreachable):
            dataset.download(tmp_path / "cut.letor", "letor")
    assert list(tmp_path.iterdir()) == [path]
