"""A short check that answers match the OpenAPI document; `make test-api-fuzz` runs a long one."""

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.api_process import ApiProcess
from tests.security.api_fuzz import UNBOUNDED, fuzz
from tests.security.target import Target


@pytest.fixture(scope="module")
def fuzzed(target: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """An API with a copy of the target's data and no worker, since a fuzzer submits large jobs."""
    folder = tmp_path_factory.mktemp("fuzzed")
    data_dir = folder / "data"
    shutil.copytree(target.data_dir / "artifacts", data_dir / "artifacts")
    with sqlite3.connect(target.data_dir / "rankery.db") as database:
        database.execute("VACUUM INTO ?", [str(data_dir / "rankery.db")])
    database.close()
    api = ApiProcess({"data_dir": data_dir}, folder, **UNBOUNDED)
    api.start()
    yield replace(target, url=api.url, data_dir=data_dir)
    api.kill()


# Requests with a body are slow to generate.
ONLY_PARAMETERS = ("--include-method", "GET", "--include-method", "DELETE")


@pytest.mark.slow
def test_answers_to_requests_without_a_body_are_as_documented(fuzzed: Target, tmp_path: Path) -> None:
    """Random and boundary parameters cause neither a 500 nor an undocumented answer."""
    secret = fuzzed.secrets["admin"]
    run = fuzz(
        fuzzed, tmp_path, 1, phases="examples,fuzzing", secret=secret, seed=1, selection=ONLY_PARAMETERS
    )
    assert run.exit_code == 0, run.report[-8_000:]
    assert run.requests >= 50


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("with_key", [False, True], ids=["without a key", "with a key"])
def test_every_answer_is_as_documented(fuzzed: Target, tmp_path: Path, with_key: bool) -> None:
    """Random and boundary requests get documented answers and no 500; only probes need no key."""
    secret = fuzzed.secrets["admin"] if with_key else None
    run = fuzz(fuzzed, tmp_path, 2, phases="examples,fuzzing", secret=secret, seed=1)
    assert run.exit_code == 0, run.report[-8_000:]
    assert run.requests >= 100
