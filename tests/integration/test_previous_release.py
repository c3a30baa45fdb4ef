"""An upgrade: a worker of the previous release continues while the API of this release migrates."""

import io
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import ApiSettings, create_app
from tests.app.conftest import NO_BROKER, TestClient
from tests.requirements import require_program
from tests.servers.fixtures import StoreArguments

PREVIOUS = "7544bed"
ITERATIONS = 10
REPOSITORY = Path(__file__).parents[2]

# Everything in one process: the API handles the requests, then the code of the worker runs the jobs.
WORK = """
import sys, warnings
from pathlib import Path
import core
assert Path(core.__file__).is_relative_to(sys.argv[1]), core.__file__
from app import ApiSettings, create_app
from core.store import Store
from worker import WorkerSettings
from worker.stopping import StopFlag
from worker.tasks import run_job
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient
with TestClient(create_app(ApiSettings())) as client:
    store, settings = Store.open(ApiSettings()), WorkerSettings(threads=1, report_seconds=0.05)
    sent = client.post("/v1/datasets/synthetic", json={"queries": 15, "seed": 1})
    assert sent.status_code == 202, sent.text
    dataset = sent.json()
    run_job(store, settings, StopFlag(), "previous", dataset["job_id"])
    request = {"kind": "train", "model_name": "web", "dataset_id": dataset["id"]}
    request |= {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": int(sys.argv[2])}}
    sent = client.post("/v1/jobs", json=request)
    assert sent.status_code == 202, sent.text
print(sent.json()["id"], flush=True)
run_job(store, settings, StopFlag(), "previous", sent.json()["id"])
"""


@pytest.fixture(scope="module")
def previous_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the previous release."""
    # A zip file: Debian's Python 3.11.2 cannot extract tar files with a filter.
    command = ["archive", "--format=zip", PREVIOUS, "app", "core", "rankery", "worker"]
    archive = subprocess.run(
        [require_program("git", "git"), *command],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        pytest.skip(f"this clone does not hold {PREVIOUS}, the release before: git fetch --unshallow --tags")
    folder = tmp_path_factory.mktemp("release")
    with zipfile.ZipFile(io.BytesIO(archive.stdout)) as files:
        files.extractall(folder)
    return folder


@pytest.fixture
def previous_worker(
    previous_release: Path, unmigrated_store_arguments: StoreArguments, tmp_path: Path
) -> Iterator["subprocess.Popen[str]"]:
    """A worker of the previous release on its schema; it prints the id of the training that it begins."""
    named = {f"RANKERY_{name.upper()}": str(value) for name, value in unmigrated_store_arguments.items()}
    environment = os.environ | named | {"PYTHONPATH": str(previous_release), "RANKERY_BROKER_URL": NO_BROKER}
    environment["NUMBA_DISABLE_JIT"] = "1"  # compilation would take minutes, a few iterations take seconds
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-P", "-c", WORK, str(previous_release), str(ITERATIONS)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    with worker:
        yield worker
        worker.kill()


def _wait_for(client: TestClient, job_id: str, status: str, limit_seconds: float = 200.0) -> dict[str, Any]:
    deadline = time.monotonic() + limit_seconds
    while time.monotonic() < deadline:
        job: dict[str, Any] = client.get(f"/v1/jobs/{job_id}").json()
        if job["status"] not in ("queued", "running") or job["status"] == status:
            return job
        time.sleep(0.05)
    raise AssertionError(f"{job_id} is not {status} after {limit_seconds:g} s")


def test_a_worker_of_the_previous_release_finishes_its_training(
    previous_worker: "subprocess.Popen[str]", unmigrated_store_arguments: StoreArguments, tmp_path: Path
) -> None:
    """The worker finishes its job after the API migrates the database, and the model can be used."""
    assert previous_worker.stdout is not None
    job_id = previous_worker.stdout.readline().strip()
    assert job_id, (tmp_path / "log").read_text()[-2000:]
    application = create_app(ApiSettings(**unmigrated_store_arguments, broker_url=NO_BROKER))
    with TestClient(application, base_url="http://127.0.0.1") as client:
        running_job = _wait_for(client, job_id, "running")
        assert running_job["status"] == "running", running_job
        done = _wait_for(client, job_id, "succeeded")
        assert done["status"] == "succeeded", done
        assert done["progress"]["iteration"] == ITERATIONS
        assert (done["attempt"], done["priority"]) == (1, "normal")
        assert client.get(f"/v1/models/{done['result']['model_id']}").json()["best_iteration"] > 0
        history = client.get(f"/v1/jobs/{job_id}/history", params={"after": ITERATIONS - 1})
        assert history.json()["iterations"] == [ITERATIONS]
    assert previous_worker.wait(30) == 0
