"""The client's calls that keep a service: labels, gates, deletions, events, webhooks and schedules."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest

from rankery import verify_webhook
from rankery.client import Client, Job
from rankery.errors import InvalidArgument, RankeryApiError
from tests.integration.requests import train_job
from tests.integration.services import Service

pytestmark = pytest.mark.embedded

LIMIT_SECONDS = 200.0


@pytest.fixture
def job(client: Client, datasets: dict[str, str], request: pytest.FixtureRequest) -> Job:
    """A training of the test's own model."""
    name = f"upkeep-{request.node.name.partition('[')[0].removeprefix('test_').replace('_', '-')}"[:90]
    made = client.submit(train_job(datasets, model_name=name, num_iterations=2) | {"project": "upkeep"})
    return made.wait(timeout_seconds=LIMIT_SECONDS)


def test_labels_are_changed_and_found(client: Client, job: Job) -> None:
    """Names, notes, tags and projects; None takes one away, what is omitted stays."""
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
    """Of one model and of all."""
    model = job.model()
    model.set_alias("champion")
    gate = model.set_gate("champion", {"dataset_id": datasets["test"], "metric": "ndcg@10"})
    assert gate == model.gate("champion")
    assert gate in client.gates(model.name)
    assert gate in client.gates()
    model.remove_gate("champion")
    assert not client.gates(model.name)


def test_what_is_deleted_is_restored(client: Client, job: Job) -> None:
    """One or many, a dry run first; what is needed is refused with what holds it."""
    model = job.model()
    model.set_alias("champion")
    with pytest.raises(RankeryApiError, match=r"alias .*@champion points at"):
        model.delete()
    refused = client.delete("models", [model], with_results=True)
    assert (refused.dry_run, refused.deleted, refused.refused[0].id) == (True, {}, model.id)
    assert "still needed by" in refused._repr_html_()
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
    with pytest.raises(InvalidArgument, match="either ids or where"):
        client.delete("jobs")
    kinds = {one.kind: one for one in client.storage(refresh=True).kinds}
    assert kinds["models"].size_bytes > 0


def test_retention_is_shown(serve: Callable[..., Service], tmp_path: Path) -> None:
    """The days of each kind, and what is past them."""
    url = serve(
        tmp_path, RANKERY_RETENTION_JOBS_DAYS="0.000001", RANKERY_RETENTION_MODELS_DAYS="30"
    ).started()
    with Client(url) as client:
        # Each lane applies the rules when it starts, and then not for an hour.
        while not httpx.get(f"{url}/readyz?for=jobs").is_success:
            time.sleep(0.05)
        client.synthetic_dataset(3).wait(timeout_seconds=LIMIT_SECONDS)
        time.sleep(0.2)  # past the days of a job
        retention = client.retention(refresh=True)
        days = {one.kind: one.retention_days for one in retention.rules}
    assert days == {"jobs": 0.000001, "models": 30}
    assert {one.kind: one.retention_objects for one in retention.rules} == {"jobs": 1, "models": 0}
    assert "30 days" in retention._repr_html_()
    assert retention.to_arrow().num_rows == len(retention.kinds)


def test_drift_is_looked_for(client: Client, job: Job) -> None:
    """A service without samples has too few queries; reports are found by model and verdict."""
    model = job.model()
    asked = client.drift(model, days=3, thresholds={"psi": 0.3}, project="upkeep")
    ended = asked.wait(timeout_seconds=LIMIT_SECONDS)
    report = client.drift_report(str((ended.result or {})["drift_report_id"]))
    assert (report.verdict, report.days, report.thresholds.psi) == ("too_few", 3, 0.3)
    assert report.model_id == model.id
    assert [one.id for one in client.drift_reports(model.name)] == [report.id]
    assert [one.id for one in client.drift_reports(model, verdict="too_few", project="upkeep")] == [report.id]
    assert not client.drift_reports(model, verdict="drift").all()
    assert "too few" in report._repr_html_().lower()


def test_a_dataset_comes_back_from_its_download(
    client: Client, datasets: dict[str, str], tmp_path: Path
) -> None:
    """As Parquet, with the same digest."""
    dataset = client.dataset(datasets["test"])
    path = dataset.download(tmp_path / "test.parquet")
    again = client.upload_dataset(path, "again").wait(timeout_seconds=LIMIT_SECONDS)
    assert again.queries().first(3) == dataset.queries().first(3)
    assert again.change(name="once more", project="upkeep").project == "upkeep"


def test_a_schedule_is_paused_and_run(client: Client, job: Job, datasets: dict[str, str]) -> None:
    """Its runs are listed, the newest first."""
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


def test_events_are_followed_over_a_restart(serve: Callable[..., Service], tmp_path: Path) -> None:
    """Each is there once, in order, though the service was killed in between."""
    first = serve(tmp_path)
    url = first.started()
    port = url.rpartition(":")[2]
    found: queue.Queue[str] = queue.Queue()

    def follow() -> None:
        with Client(url) as follower:
            for _, event in zip(range(3), follower.events(0, kinds="job.ended"), strict=False):
                found.put(event.object.id)

    following = threading.Thread(target=follow, daemon=True)
    following.start()
    with Client(url) as client:
        jobs = [client.synthetic_dataset(3, seed=seed).job_id for seed in range(2)]
        seen = [found.get(timeout=LIMIT_SECONDS) for _ in jobs]
        first.popen.terminate()
        first.ended()
        serve(tmp_path, "--port", port).started()
        jobs.append(client.synthetic_dataset(3, seed=9).job_id)
        seen.append(found.get(timeout=LIMIT_SECONDS))
        following.join(LIMIT_SECONDS)  # while the service is there to follow
        assert not following.is_alive()
        assert sorted(seen[:2]) == sorted(map(str, jobs[:2]))
        assert seen[2] == jobs[2]
        assert found.empty()
        assert [event.object.id for event in client.past_events(kinds="job.ended").first(1)] == [jobs[2]]


@pytest.fixture
def receiver() -> Iterator[tuple[str, "queue.Queue[tuple[dict[str, str], bytes]]"]]:
    """A web server that keeps what is posted to it."""
    kept: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

    class Keep(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.put((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Keep)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", kept
    server.shutdown()
    server.server_close()


def test_a_webhook_is_verified(
    serve: Callable[..., Service],
    tmp_path: Path,
    receiver: tuple[str, "queue.Queue[tuple[dict[str, str], bytes]]"],
) -> None:
    """By the secret that was shown once, and by the next one after a rotation."""
    address, kept = receiver
    url = serve(tmp_path, RANKERY_OUTBOUND_ALLOWED="127.0.0.1/32").started()
    with Client(url) as client:
        webhook = client.create_webhook(address, ["job.ended"], description="mine")
        assert webhook.secret is not None
        assert "whsec" not in webhook._repr_html_() + repr(webhook)
        assert webhook.test().delivered
        headers, body = kept.get(timeout=LIMIT_SECONDS)
        assert verify_webhook(body, headers, webhook.secret)["type"] == "webhook.test"
        rotated = webhook.rotate_secret().secret
        job_id = client.synthetic_dataset(3).job_id
        headers, body = kept.get(timeout=LIMIT_SECONDS)
        assert verify_webhook(body, headers, str(rotated))["data"]["object"]["id"] == job_id
        assert json.loads(body)["type"] == "job.ended"
        (delivery,) = webhook.deliveries().first(5)
        assert delivery.object_id == job_id
        assert [one.id for one in client.webhooks()] == [webhook.id]
        webhook.delete()
        assert not client.webhooks().all()
