"""A service that a signal stops during a training, and the next service on its data folder two days later."""

import signal
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.jobs import LANES
from rankery.client import Client, Hyperparameters, Job
from rankery.client.views.study import ScheduleRunView
from tests.integration.processes import wait_until_none
from tests.integration.requests import not_none
from tests.integration.services import QUICK_RECOVERY, Service
from tests.integration.waiting import LIMIT_SECONDS, wait_for
from tests.servers.clock import ServiceClock

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

ITERATIONS = 1_500
DAY = timedelta(days=1)
SMALL: Hyperparameters = {"num_iterations": 5, "num_leaves": 7, "min_data_in_leaf": 5}


@dataclass(frozen=True)
class Restart:
    """Observations of both services.

    Attributes:
        url: URL of the second service, which runs.
        data_dir: Data folder of both services.
        paths: Paths in the data folder between both services, when no process changes them, with their modes.
        lines: Terminal output of the first service.
        exit_code: Exit code of the first service.
        remaining: Command lines of processes that the first service left behind, by id.
        interrupted: The training that the stop interrupted, after the second service has finished it.
        due_at: First due time of the schedule.
        newest: Id of the newest dataset with the name in the schedule.
        on_time: The run at that time.
        missed: The run for the due times of the two days without a service.
        followed: Ids of ended jobs, as received by a client that followed events during the restart.
    """

    url: str
    data_dir: Path
    paths: dict[Path, int]
    lines: list[str]
    exit_code: int
    remaining: dict[int, str]
    interrupted: Job
    due_at: datetime
    newest: str
    on_time: ScheduleRunView
    missed: ScheduleRunView
    followed: list[str]


class Follower:
    """A client that follows the ends of jobs."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._seen: list[str] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def finish(self, client: Client) -> list[str]:
        """Stop following after the newest event; return the ids of ended jobs."""
        last = client.synthetic_dataset(3, seed=1).job_id
        wait_for(lambda: last in self._seen)
        self._ending.set()
        client.synthetic_dataset(3, seed=2)
        self._thread.join(LIMIT_SECONDS)
        assert not self._thread.is_alive()
        return self._seen

    def _follow(self) -> None:
        with Client(self._url) as client:
            for event in client.events(0, kinds="job.ended"):
                self._seen.append(event.object.id)
                if self._ending.is_set():
                    return


@pytest.fixture(scope="module")
def restart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restart]:
    """Observations of two services, one after the other."""
    folder = tmp_path_factory.mktemp("restart")
    data_dir, clock = folder / "data", ServiceClock(folder / "clock")
    environment = {**QUICK_RECOVERY, **clock.environment}
    with Service(data_dir, environment, "--port", "0") as first:
        url = first.wait_for_url()
        follower = Follower(url)
        with Client(url) as client:
            newest, schedule_id, due_at = _add_schedule(client)
            clock.set(due_at + timedelta(seconds=1))
            on_time = _ended_run(client, schedule_id, due_at)
            long: Hyperparameters = {**SMALL, "num_iterations": ITERATIONS}
            job = client.train("long", newest, "mse", validation=0.3, hyperparameters=long)
            wait_for(lambda: job.refresh().iteration)
        exit_code = first.end(signal.SIGTERM)
        remaining = wait_until_none(data_dir, 0.0)
    paths = {path: path.stat().st_mode for path in (data_dir, *data_dir.rglob("*"))}
    clock.set(due_at + 2 * DAY + timedelta(hours=1))
    with Service(data_dir, environment, "--port", url.rpartition(":")[2]) as second:
        assert second.wait_for_url() == url
        with Client(url) as client:
            interrupted = client.job(job.id).wait(timeout_seconds=LIMIT_SECONDS)
            missed = _ended_run(client, schedule_id, due_at + 2 * DAY)
            client.schedule(schedule_id).pause()
            followed = follower.finish(client)
            yield Restart(
                url,
                data_dir,
                paths,
                first.lines,
                exit_code,
                remaining,
                interrupted,
                due_at,
                newest,
                on_time,
                missed,
                followed,
            )


def _add_schedule(client: Client) -> tuple[str, str, datetime]:
    """Add a nightly training with a gate; return the newest dataset, the schedule and its due time."""

    def add_dataset(name: str, seed: int) -> str:
        dataset = client.synthetic_dataset(60, seed=seed, polynomial_seed=3, name=name)
        return dataset.wait(timeout_seconds=LIMIT_SECONDS).id

    clicks, judged = add_dataset("clicks", 1), add_dataset("judged", 2)
    first = client.train("web", clicks, "lambdarank", hyperparameters=SMALL)
    first.wait(timeout_seconds=LIMIT_SECONDS).model().set_alias("champion")
    client.set_gate(
        "web",
        "champion",
        {"dataset_id": judged, "metric": "ndcg@5", "permutations": 1000, "max_slice_drop": 1.0},
    )
    newest = add_dataset("clicks", 3)
    training = {
        "kind": "train",
        "model_name": "web",
        "dataset": "clicks",
        "loss": {"name": "lambdarank"},
        "hyperparameters": {**SMALL, "num_iterations": 30},
    }
    schedule = client.create_schedule("nightly", "0 3 * * *", training, promote="champion")
    return newest, schedule.id, not_none(schedule.next_run_at)


def _ended_run(client: Client, schedule_id: str, due_at: datetime) -> ScheduleRunView:
    """Wait for the end of the run that is due at a time."""

    def find_run() -> ScheduleRunView | None:
        runs = [run for run in client.schedule(schedule_id).runs() if run.due_at == due_at]
        assert len(runs) <= 1
        return runs[0] if runs and runs[0].finished_at else None

    return wait_for(find_run)


def test_a_signal_ends_every_process(restart: Restart) -> None:
    """The exit code is 0, no process is left, and the last lines name the stop."""
    assert restart.exit_code == 0, restart.lines
    assert restart.remaining == {}
    assert restart.lines[-1] == "rankery: stopping"
    log = (restart.data_dir / "logs" / "worker.log").read_text()
    assert log.count("worker.stopped") == len(LANES)


def test_the_next_service_finishes_the_job(restart: Restart) -> None:
    """The job was handed back, not lost; no iteration is missing or repeated."""
    endings = [attempt.ending for attempt in restart.interrupted.attempts]
    assert endings == ["handed_back", "succeeded"]
    assert restart.interrupted.attempt == 1
    assert restart.interrupted.history().iterations == list(range(1, ITERATIONS + 1))


def test_a_model_is_trained_and_promoted_when_it_is_due(restart: Restart) -> None:
    """The run uses the newest dataset and starts at its due time; the model is promoted."""
    run = restart.on_time
    assert run.status == "promoted", run
    assert run.missed_since is None
    assert not_none(run.started_at) >= restart.due_at
    assert run.datasets == {"train": restart.newest}


def test_due_times_without_a_service_have_one_run(restart: Restart) -> None:
    """The run is due at the last missed time and records the first missed time."""
    run = restart.missed
    assert run.missed_since == restart.due_at + DAY
    assert run.status in ("promoted", "refused"), run
    with Client(restart.url) as client:
        (schedule,) = client.schedules()
        assert [each.due_at for each in schedule.runs()] == [run.due_at, restart.due_at]
        champion = client.model("web@champion").id
    assert champion == (run if run.status == "promoted" else restart.on_time).model_id


def test_events_are_followed_over_a_restart(restart: Restart) -> None:
    """A client receives each event once and in order, despite the restart of the service."""
    with Client(restart.url) as client:
        past = [event.object.id for event in client.past_events(kinds="job.ended")]
    assert restart.followed == past[::-1]
    assert len(set(past)) == len(past)


@pytest.mark.slow  # tests/rankery/test_embedded.py tests the lock
def test_two_services_never_share_a_data_folder(restart: Restart, serve: Callable[..., Service]) -> None:
    """The second service reports the conflict in one line; the first one continues."""
    refused = serve(restart.data_dir)
    assert refused.wait_for_end() == 1
    (line,) = refused.lines
    taken = f"rankery: the data folder {restart.data_dir} is in use by another rankery service"
    assert line.startswith(taken)
    with Client(restart.url) as client:
        assert client.model("web").name == "web"


def test_no_other_user_can_read_the_data_folder(restart: Restart) -> None:
    """Only the user of the service can read the database, logs, artifacts and samples."""
    assert len(restart.paths) > 10
    others = [path for path, mode in restart.paths.items() if not stat.S_ISSOCK(mode) and mode & 0o077]
    assert others == []
