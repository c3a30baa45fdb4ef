"""Datasets, from the upload to ready or invalid."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from rankery.client import Client
from rankery.errors import JobFailed
from tests.integration.requests import not_none

GOOD = "2 qid:1 1:0.5 2:1 # docid = a\n0 qid:1 1:0.1 # docid = b\n1 qid:2 2:3\n0 qid:2 1:4\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_an_upload_becomes_ready_with_its_statistics(
    client: Client, tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    """A job reads a valid file, compressed or not, and records its statistics."""
    path = tmp_path / "train.txt"
    path.write_bytes(pack(GOOD.encode()))
    dataset = client.upload_dataset(path, name="mine").wait(timeout_seconds=200)
    assert dataset.status == "ready"
    assert dataset.name == "mine"
    assert dataset.problem is None
    assert not_none(dataset.statistics)["queries"] == 2
    assert not_none(dataset.statistics)["documents"] == 4
    assert not_none(dataset.statistics)["features"] == 2


def test_an_upload_that_cannot_be_read_names_the_line_and_the_users_file(
    client: Client, tmp_path: Path
) -> None:
    """The dataset and its job have the same problem, with the line, the column and the user's file name."""
    path = tmp_path / "broken.txt"
    path.write_text("1 qid:1 1:0.5\n0 qid:1 1:zero\n")
    dataset = client.upload_dataset(path)
    with pytest.raises(JobFailed, match=r"broken\.txt, line 2") as failed:
        dataset.wait(timeout_seconds=200)
    invalid = client.dataset(dataset.id)
    assert invalid.status == "invalid"
    assert invalid.problem == failed.value.job.problem
    assert not_none(invalid.problem).title == "Dataset cannot be read"
    (error,) = not_none(not_none(invalid.problem).errors)
    assert (error["file"], error["line"]) == ("broken.txt", 2)
    assert error["column"] == len("0 qid:1 ") + 1
    assert error["text"] == "1:zero"


def test_synthetic_datasets_share_a_polynomial(client: Client, datasets: dict[str, str]) -> None:
    """Train and test data have the same features and the same polynomial, but different documents."""
    train, test = client.dataset(datasets["train"]), client.dataset(datasets["test"])
    assert train.source == {"kind": "synthetic", "queries": 60, "seed": 0, "polynomial_seed": 3}
    assert not_none(train.statistics)["features"] == not_none(test.statistics)["features"]
    assert not_none(train.statistics)["queries"] == 60
    assert not_none(test.statistics)["queries"] == 40
