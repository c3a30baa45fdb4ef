"""Path traversal in names of files, models, datasets, queries and formats."""

import os
from pathlib import Path

import pytest

from tests.security.attack import Attack, multipart
from tests.security.conftest import Send
from tests.security.target import Target

NEVER = (b"root:x:", b"[project]", b"SQLite format")
TRAIN = {"kind": "train", "dataset_id": "{learnt}", "loss": {"name": "lambdarank"}}

ATTACKS: dict[str, Attack] = {
    "static file above its folder": Attack("/static/../../../pyproject.toml", 404, "no-such-path"),
    "static file, encoded dots": Attack("/static/%2e%2e/%2e%2e/templates/base.html", 404, "no-such-path"),
    "static file, encoded slashes": Attack(
        "/static/..%2f..%2f..%2f..%2f..%2fetc/passwd", 404, "no-such-path"
    ),
    "static file, encoded twice": Attack("/static/%252e%252e/%252e%252e/etc/passwd", 404, "no-such-path"),
    "static file, backslashes": Attack("/static/..\\..\\..\\etc\\passwd", 404, "no-such-path"),
    "static file, absolute": Attack("/static//etc/passwd", 404, "no-such-path"),
    "static file with NUL": Attack("/static/favicon.svg%00.html", 404, "no-such-path"),
    "static source": Attack("/static/../__init__.py", 404, "no-such-path"),
    "documentation file above its folder": Attack(
        "/static-offline-docs/..%2f..%2f..%2f..%2fetc/passwd", 404, "no-such-path"
    ),
    "dataset above its folder": Attack("/v1/datasets/..%2f..%2fmodels", 404),
    "dataset of NUL": Attack("/v1/datasets/ds_%00", 404),
    "query above its dataset": Attack(
        "/v1/datasets/{measured}/queries/../../../../etc/passwd", 404, "not-found"
    ),
    "query above its dataset, encoded": Attack(
        "/v1/datasets/{measured}/queries/..%2f..%2f..%2fetc%2fpasswd", 404, "not-found"
    ),
    "model above its folder": Attack("/v1/models/..%2f..%2f..%2fetc%2fpasswd/export", 404),
    "model like an id above its folder": Attack("/v1/models/mdl_..%2f..%2frankery.db/export", 404),
    "export format that is a path": Attack(
        "/v1/models/web/export?format=../../../../etc/passwd", 422, "invalid-input"
    ),
    "export format of a module": Attack("/v1/models/web/export?format=__class__", 422, "invalid-input"),
    "ranking above its folder": Attack("/v1/rankings/..%2f..%2frankery.db?format=parquet", 404),
    "ranking format that is a path": Attack("/v1/rankings/{ranking}?format=../parquet", 422, "invalid-input"),
    "evaluation above its folder": Attack("/v1/evaluations/..%2f..%2f/queries", 404),
    "compared query that is a path": Attack(
        "/v1/comparisons/{comparison}/rankings?query_id=../../../etc/passwd", 404, "not-found"
    ),
    "model name that is a path": Attack(
        "/v1/jobs", 422, "invalid-input", "POST", body=TRAIN | {"model_name": "../../etc"}
    ),
    "model name of dots": Attack("/v1/jobs", 422, "invalid-input", "POST", body=TRAIN | {"model_name": ".."}),
    "alias that is a path": Attack(
        "/v1/models/web/aliases/..%2f..%2fetc", 404, "no-such-path", "PUT", body={"version": 1}
    ),
    "alias of dots": Attack("/v1/models/web/aliases/..", 422, "invalid-input", "PUT", body={"version": 1}),
    "dataset to learn from that is a path": Attack(
        "/v1/jobs",
        404,
        "not-found",
        "POST",
        body=TRAIN | {"model_name": "web", "dataset_id": "../../../etc/passwd"},
    ),
    "the whole target as an address": Attack("http://169.254.169.254/latest/meta-data/", 404, "no-such-path"),
    "a file as an address": Attack("file:///etc/passwd", 404, "no-such-path"),
}
FILENAMES = {
    "slashes": "../../../../tmp/rankery-was-here.csv",
    "backslashes": "..\\..\\..\\tmp\\rankery-was-here.csv",
    "absolute": "/tmp/rankery-was-here.csv",
    "a drive": "C:\\tmp\\rankery-was-here.csv",
    "an address": "file:///tmp/rankery-was-here.csv",
    "control characters": "/tmp/rankery-was-here\x00.csv\x1b[2J",
}


@pytest.mark.parametrize("case", ATTACKS)
def test_no_name_leads_out_of_its_folder(send: Send, case: str) -> None:
    """A traversal is not found or not allowed, and the answer has no content of the machine's files."""
    attack = ATTACKS[case]
    answer = send(attack)
    assert answer.status == attack.status
    # Decoded slashes decide whether the path or the object is unknown; both problems are correct.
    assert answer.problem in ({attack.problem} if attack.problem else {"not-found", "no-such-path"})
    assert not any(secret in answer.body for secret in NEVER)


@pytest.mark.parametrize("case", FILENAMES)
def test_folders_are_removed_from_the_name_of_an_upload(send: Send, target: Target, case: str) -> None:
    """The recorded name has no folders and no control characters; the service chooses the stored key."""
    content_type, body = multipart(FILENAMES[case], b"2 qid:1 1:0.5\n1 qid:1 1:0.1\n")
    answer = send(Attack("/v1/datasets", 202, "", "POST", (("Content-Type", content_type),), body))
    assert answer.status == 202
    with target.client() as http:
        dataset = http.get(answer.headers["location"]).json()
    assert not set(dataset["source"]["filename"]) & set("/\\\0\x1b")
    assert not list(Path("/tmp").glob("rankery-was-here*"))
    # Unlike `rglob`, `walk` allows for folders that the worker removes meanwhile.
    names = [name for _, folders, files in os.walk(target.data_dir) for name in (*folders, *files)]
    assert names
    assert not [name for name in names if "was-here" in name]
