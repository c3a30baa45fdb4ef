"""Run the backup and restore commands of the guide on both kinds of store, while a service runs."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from app import ApiSettings, create_app
from core.data import synthetic_dataset
from core.store import Store
from rankery import Client
from rankery.embedded.stack import EmbeddedStack
from tests.app.conftest import NO_BROKER, TestClient
from tests.guide.blocks import blocks
from tests.requirements import require_program
from tests.servers import PostgresServer, S3Server
from tests.servers.postgres import programs
from tests.worker.inline_worker import InlineWorker
from worker import WorkerSettings

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "backup.md"
FEATURES = 50
DOCUMENTS = [{"id": str(value), "features": [float(value)] * FEATURES} for value in (-1, 0, 1)]


class Deployment(NamedTuple):
    """Settings of a service's stores, and the section of the page about stores of this kind."""

    section: str
    data_dir: Path
    environment: dict[str, str]

    def elsewhere(self, data_dir: Path, database_url: str) -> "Deployment":
        """Return settings of empty stores of the same kind."""
        if self.section == "folder":
            return Deployment(self.section, data_dir, {"RANKERY_DATA_DIR": str(data_dir)})
        named = {
            "RANKERY_DATABASE_URL": database_url,
            "RANKERY_STORAGE_URL": f"{self.environment['RANKERY_STORAGE_URL']}-restored",
        }
        return Deployment(self.section, data_dir, self.environment | named)


@pytest.fixture(params=["folder", "servers"])
def deployment(request: pytest.FixtureRequest, tmp_path: Path) -> Deployment:
    """Stores of the service to back up: SQLite and a folder, or PostgreSQL and S3."""
    data_dir = tmp_path / "data"
    if request.param == "folder":
        return Deployment("folder", data_dir, {"RANKERY_DATA_DIR": str(data_dir)})
    require_program("aws", "awscli")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    s3: S3Server = request.getfixturevalue("s3")
    storage_url, environment = s3.new_bucket()
    named = {
        "RANKERY_DATABASE_URL": postgres.new_database(),
        "RANKERY_STORAGE_URL": storage_url,
        "PATH": f"{programs()}:{os.environ['PATH']}",
    }
    return Deployment("servers", data_dir, environment | named)


@pytest.fixture
def elsewhere(deployment: Deployment, tmp_path: Path, request: pytest.FixtureRequest) -> Deployment:
    """Settings of empty stores of the same kind."""
    if deployment.section == "folder":
        return deployment.elsewhere(tmp_path / "elsewhere", "")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return deployment.elsewhere(tmp_path / "elsewhere", postgres.new_database())


def test_committed_data_is_restored_to_other_stores(
    deployment: Deployment, elsewhere: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The restored service has the same lists and scores; uncommitted writes are absent.

    Other users of the machine can read neither the backup nor the restored data folder.
    """
    _set(monkeypatch, deployment)
    settings = WorkerSettings(data_dir=deployment.data_dir, threads=1)
    store = Store.open(settings)
    store.migrate()
    inline_worker = InlineWorker(store, settings)
    data = synthetic_dataset(20, seed=1, documents_per_query=6, n_features=FEATURES)
    inline_worker.training_result(inline_worker.add(data, "data"))
    before = _answers(deployment)
    with store.begin() as tx:
        tx.datasets.add("uncommitted", {"kind": "upload"})
        run(f"{deployment.section}-back-up", deployment.environment, tmp_path)
    store.close()
    run(f"{deployment.section}-restore", elsewhere.environment, tmp_path)
    for folder in (tmp_path / "backup", elsewhere.data_dir):
        assert not folder.exists() or folder.stat().st_mode & 0o077 == 0
    _set(monkeypatch, elsewhere)
    assert _answers(elsewhere) == before


def _set(monkeypatch: pytest.MonkeyPatch, deployment: Deployment) -> None:
    for name, value in deployment.environment.items():
        monkeypatch.setenv(name, value)


def _answers(deployment: Deployment) -> list[object]:
    """Return the listed objects, and scores that are computed from stored artifacts."""
    application = create_app(ApiSettings(data_dir=deployment.data_dir, broker_url=NO_BROKER))
    body = {"queries": [{"id": "q", "documents": DOCUMENTS}]}
    with TestClient(application, base_url="http://127.0.0.1") as client:
        listed = [client.get(f"/v1/{kind}").json()["items"] for kind in ("datasets", "models", "jobs")]
        scored = client.post("/v1/models/web/rank", json=body)
    assert scored.status_code == 200, scored.text
    assert all(map(len, listed))
    return [*listed, scored.json()["queries"]]


@pytest.mark.slow
def test_a_backup_of_a_running_service_is_restored_to_other_stores(
    deployment: Deployment, elsewhere: Deployment, tmp_path: Path
) -> None:
    """The restored service has the same lists and scores, without changes after the backup."""
    with (
        EmbeddedStack(deployment.data_dir, environment=deployment.environment) as stack,
        Client(stack.url) as client,
    ):
        dataset = client.synthetic_dataset(30, seed=1, name="train").wait()
        client.train("web", dataset, "lambdarank", hyperparameters={"num_iterations": 5}).wait()
        before = lists_and_scores(client)
        client.train("later", dataset, "ranknet", hyperparameters={"num_iterations": 100_000})
        run(f"{deployment.section}-back-up", deployment.environment, tmp_path)
        client.synthetic_dataset(30, seed=2, name="later").wait()
    run(f"{deployment.section}-restore", elsewhere.environment, tmp_path)
    with (
        EmbeddedStack(elsewhere.data_dir, environment=elsewhere.environment) as stack,
        Client(stack.url) as client,
    ):
        assert lists_and_scores(client) == before
        (unfinished,) = [job for job in client.jobs() if job.status not in ("succeeded", "failed")]
        assert unfinished.cancel().id == unfinished.id


def lists_and_scores(client: Client) -> dict[str, object]:
    """Return the listed objects, and scores that are computed from stored artifacts."""
    (query,) = client.rank("web", [{"id": "q", "documents": DOCUMENTS}]).queries
    return {
        "datasets": [dataset.id for dataset in client.datasets()],
        "models": [model.id for model in client.models()],
        "ended jobs": [job.id for job in client.jobs(status="succeeded")],
        "scores": [(document.id, document.score) for document in query.ranking],
    }


def run(section: str, environment: Mapping[str, str], folder: Path) -> None:
    """Run the commands of a section in a shell."""
    done = subprocess.run(
        ["bash", "-c", commands(section)],
        cwd=folder,
        env={**os.environ, **environment, "BACKUP": str(folder / "backup")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def commands(section: str) -> str:
    """Return the commands at the beginning of the page and those of one section."""
    lines = PAGE.read_text().splitlines()
    headings = [number for number, line in enumerate(lines, 1) if line.startswith("#")]
    begin = next(number for number in headings if f"{{ #{section} }}" in lines[number - 1])
    end = min(number for number in headings if number > begin)
    first, *others = [block for block in blocks(PAGE) if block.language == "bash"]
    texts = [block.text for block in others if begin < block.line < end]
    assert texts, section
    return "".join(["set -euo pipefail\n", first.text, *texts])
