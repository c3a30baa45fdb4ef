"""The client's calls to maintain a service: labels, gates, deletions, webhooks and schedules."""

import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from rankery import verify_webhook
from rankery.client import Client, Job
from rankery.errors import InvalidArgument, RankeryApiError
from tests.integration.requests import train_job
from tests.integration.waiting import LIMIT_SECONDS

pytestmark = pytest.mark.embedded


@pytest.fixture
def job(client: Client, datasets: dict[str, str], request: pytest.FixtureRequest) -> Job:
    """A training of a model whose name is that of the test."""
    name = f"upkeep-{request.node.name.partition('[')[0].removeprefix('test_').replace('_', '-')}"[:90]
    submitted = client.submit(train_job(datasets, model_name=name, num_iterations=2) | {"project": "upkeep"})
    return submitted.wait(timeout_seconds=LIMIT_SECONDS)


def test_labels_are_changed_and_found(client: Client, job: Job) -> None:
    """Names, notes, tags and projects are changed; None removes a value, and omitted values stay."""
    job.change(name="nightly", notes="a try", tags={"grid": "a"})
    assert (job.title, job.notes, job.tags["grid"], job.project) == ("nightly", "a try", "a", "upkeep")
    job.change(notes=None, tags={"grid": None})
    assert (job.title, job.notes, "grid" in job.tags) == ("nightly", None, False)
    model = job.model().change(title="spring", tags={"keep": "yes"})
    assert (model.title, model.project) == ("spring", "upkeep")
    assert model.id in [one.id for one in client.models(tag="keep", project="upkeep")]
    assert "upkeep" in [one.name for one in client.projects()]
    where = {"project": "upkeep", "tag": ["keep"]}
    assert client.label("models", where=where, tags={"keep": None}).changed == 1
    assert client.label("models", [model], project=None, dry_run=False).moved_names == [model.name]
    assert model.refresh().project is None


def test_gates_are_listed(client: Client, job: Job, datasets: dict[str, str]) -> None:
    """Gates are listed for one model and for all models, also while their alias has no version."""
    model = job.model()
    model.set_alias("champion")
    gate = model.set_gate("champion", {"dataset_id": datasets["test"], "metric": "ndcg@10"})
    assert gate == model.gate("champion")
    assert gate in client.gates(model.name)
    assert gate in client.gates()
    client.remove_alias(model.name, "champion")
    assert gate in client.gates(model.name)
    model.remove_gate("champion")
    assert not client.gates(model.name)


def test_deleted_objects_are_restored(client: Client, job: Job) -> None:
    """Objects are deleted one by one or by a filter; objects in use are refused with the reason."""
    model = job.model()
    kinds = {one.kind: one for one in client.storage(refresh=True).kinds}
    assert kinds["models"].size_bytes > 0
    model.set_alias("champion")
    with pytest.raises(RankeryApiError, match=r"alias .*@champion points at"):
        model.delete()
    refused = client.delete("models", [model], with_results=True)
    assert (refused.dry_run, refused.deleted, refused.refused[0].id) == (True, {}, model.id)
    assert "needed by" in refused._repr_html_()
    client.remove_alias(model.name, "champion")
    where = {"project": "upkeep", "text": model.name}
    planned = client.delete("jobs", where=where, with_results=True)
    done = client.delete("jobs", where=where, with_results=True, dry_run=False)
    assert planned.deleted == done.deleted
    assert done.deleted["jobs"] == done.deleted["models"] == 1
    assert {job.id, model.id} <= {one.id for one in client.trash()}
    assert client.restore(job).restored == done.deleted
    assert model.refresh().name == model.name
    job.delete(with_results=True)
    assert client.empty_trash([job, model]).size_bytes > 0
    dataset = client.synthetic_dataset(queries=3).wait(timeout_seconds=LIMIT_SECONDS)
    dataset.delete()
    assert dataset.id in [one.id for one in client.trash("dataset")]
    assert client.restore(dataset).restored == {"datasets": 1}
    assert dataset.refresh().status == "ready"
    with pytest.raises(InvalidArgument, match="either ids or where"):
        client.delete("jobs")


def test_retention_is_shown(client: Client) -> None:
    """The retention days of each kind are shown; no object is older."""
    retention = client.retention(refresh=True)
    assert {one.kind: one.retention_days for one in retention.rules} == {"jobs": 3650, "models": 30}
    assert {one.kind: one.retention_objects for one in retention.rules} == {"jobs": 0, "models": 0}
    assert "30 days" in retention._repr_html_()
    assert retention.to_arrow().num_rows == len(retention.kinds)


def test_drift_is_computed(client: Client, job: Job) -> None:
    """Without samples, the verdict is `too_few`; reports are found by model and verdict."""
    model = job.model()
    started = client.drift(model, days=3, thresholds={"psi": 0.3}, project="upkeep")
    ended = started.wait(timeout_seconds=LIMIT_SECONDS)
    report = client.drift_report(str((ended.result or {})["drift_report_id"]))
    assert (report.verdict, report.days, report.thresholds.psi) == ("too_few", 3, 0.3)
    assert report.model_id == model.id
    assert [one.id for one in client.drift_reports(model.name)] == [report.id]
    assert [one.id for one in client.drift_reports(model, verdict="too_few", project="upkeep")] == [report.id]
    assert not client.drift_reports(model, verdict="drift").all()
    assert "too few" in report._repr_html_().lower()


def test_a_downloaded_dataset_can_be_uploaded_again(
    client: Client, datasets: dict[str, str], tmp_path: Path
) -> None:
    """The dataset of the Parquet download has the same first queries."""
    dataset = client.dataset(datasets["test"])
    path = dataset.download(tmp_path / "test.parquet")
    again = client.upload_dataset(path, "again").wait(timeout_seconds=LIMIT_SECONDS)
    assert again.queries().first(3) == dataset.queries().first(3)
    assert again.change(name="once more", project="upkeep").project == "upkeep"


def test_a_schedule_is_paused_and_run(client: Client, job: Job, datasets: dict[str, str]) -> None:
    """A schedule can be paused, resumed and run; its runs are listed."""
    client.dataset(datasets["train"]).change(name="upkeep data")
    training = {
        "kind": "train",
        "model_name": job.model().name,
        "dataset": "upkeep data",
        "loss": {"name": "mse"},
        "hyperparameters": {"num_iterations": 2},
    }
    schedule = client.create_schedule("nightly", "0 3 * * *", training, timezone="Europe/Zurich")
    assert schedule.pause().next_run_at is None
    assert schedule.resume().next_run_at is not None
    run = schedule.run()
    assert [one.id for one in schedule.runs()] == [run.id]
    assert schedule.id in [one.id for one in client.schedules(enabled=True)]
    assert schedule.change(name="weekly").name == "weekly"
    schedule.delete()
    client.dataset(datasets["train"]).change(name="train")


@pytest.fixture
def receiver() -> Iterator[tuple[str, "queue.Queue[tuple[dict[str, str], bytes]]"]]:
    """A web server that stores POST requests in a queue."""
    requests: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

    class Keep(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.put((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Keep)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", requests
    server.shutdown()
    server.server_close()


def test_a_webhook_is_verified(
    client: Client, receiver: tuple[str, "queue.Queue[tuple[dict[str, str], bytes]]"]
) -> None:
    """Deliveries are verified with the secret, and with the next secret after a rotation."""
    url, requests = receiver
    webhook = client.create_webhook(url, ["job.ended"], description="mine")
    assert webhook.secret is not None
    assert "whsec" not in webhook._repr_html_() + repr(webhook)
    assert webhook.test().delivered
    headers, body = requests.get(timeout=LIMIT_SECONDS)
    assert verify_webhook(body, headers, webhook.secret)["type"] == "webhook.test"
    rotated = webhook.rotate_secret().secret
    job_id = client.synthetic_dataset(3).job_id
    seen: list[str] = []
    while job_id not in seen:  # jobs of other tests may end meanwhile
        headers, body = requests.get(timeout=LIMIT_SECONDS)
        event = verify_webhook(body, headers, str(rotated))
        assert event["type"] == "job.ended"
        seen.append(event["data"]["object"]["id"])
    assert job_id in [delivery.object_id for delivery in webhook.deliveries()]
    assert webhook.id in [one.id for one in client.webhooks()]
    webhook.delete()
    assert webhook.id not in [one.id for one in client.webhooks()]
