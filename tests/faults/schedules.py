"""`make test-schedules`: kill workers around the due times of a schedule while the clock is set forward."""

import argparse
import itertools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import httpx

from core.store.engines import for_reading, open_engine
from tests.faults.client import Document, RetryingClient
from tests.faults.installation import Installation, Servers, on_one_disk, on_servers
from tests.faults.job_batch import ENDED, moment
from tests.faults.parts import kill_all
from tests.faults.schedule_verdict import schedule_problems
from tests.integration.services import QUICK_RECOVERY
from tests.servers.clock import ServiceClock

SETTINGS = {**QUICK_RECOVERY, "RANKERY_ATTEMPTS": "10", "RANKERY_REPORT_SECONDS": "0"}
MINUTE = timedelta(minutes=1)
LIMIT_SECONDS = 300.0
_LONGEST_DELAY_SECONDS = 1.0
_TRAINING: Document = {
    "kind": "train",
    "model_name": "web",
    "loss": {"name": "lambdarank"},
    "metrics": ["ndcg@5"],
}


@dataclass
class Outcome:
    """Result of a campaign.

    Attributes:
        kill_moments: Moments at which the workers were killed, from `_MOMENTS`.
        statuses: Number of runs by status.
        missed: Number of due times that a later run covers.
        problems: Problems that were found.
    """

    kill_moments: list[str]
    statuses: Mapping[str, int]
    missed: int
    problems: list[str]


class ScheduleCampaign:
    """A schedule that is due each minute while the workers of an installation are killed.

    Args:
        installation: An installation with `SETTINGS` and the clock.
        client: Client of the installation.
        clock: Clock of all processes of the installation.
        seed: Seed of random moments.
        report: Called with the time and the moment of each kill.
    """

    def __init__(
        self,
        installation: Installation,
        client: RetryingClient,
        clock: ServiceClock,
        seed: int,
        report: Callable[[str], None],
    ) -> None:
        self._installation = installation
        self._client = client
        self._clock = clock
        self._random = random.Random(seed)
        self._report = report
        self._schedule_id = ""

    def run(self, kills: int) -> Outcome:
        """Kill all workers this number of times, each time in a separate minute, and check the runs."""
        first = self._begin()
        kill_moments = list(itertools.islice(itertools.cycle(_MOMENTS), kills))
        for name in kill_moments:
            _MOMENTS[name](self)
            self._installation.supervise(self._random.uniform(0, _LONGEST_DELAY_SECONDS))
            self._report(f"{self._clock.now():%H:%M:%S} {name}")
            for worker in self._installation.workers:
                kill_all(worker)
            self._installation.wait_until_ready()
        last = self._end()
        engine = for_reading(open_engine(self._installation.database_url))
        dues = [first + number * MINUTE for number in range((last - first) // MINUTE + 1)]
        problems = schedule_problems(engine, self._schedule_id, dues)
        engine.dispose()
        runs = self._runs()
        missed = sum(
            (moment(run["due_at"]) - moment(run["missed_since"])) // MINUTE
            for run in runs
            if run["missed_since"]
        )
        return Outcome(kill_moments, Counter(run["status"] for run in runs), missed, problems)

    def set_clock_before_a_due_time(self) -> None:
        """Set the clock to one second before a due time."""
        before = self._this_minute() + MINUTE - timedelta(seconds=1)
        self._clock.set(before if self._clock.now() < before else before + MINUTE)

    def wait_for_run(self, *statuses: str) -> None:
        """Wait for the end of the last run, then for a status of the run at the next due time."""
        self._installation.wait_until(self._is_idle, LIMIT_SECONDS, "a run has ended")
        earlier = {run["id"] for run in self._runs()}
        self._clock.set(self._this_minute() + MINUTE)

        def has_status() -> bool:
            new = [run for run in self._runs() if run["id"] not in earlier]
            return bool(new) and new[0]["status"] in statuses

        self._installation.wait_until(has_status, LIMIT_SECONDS, f"a run is {' or '.join(statuses)}")

    def _begin(self) -> datetime:
        """Create data, a champion, its gate and the schedule; return the first due time."""
        small = {"num_iterations": 5, "num_leaves": 7, "min_data_in_leaf": 5}
        clicks, judged = self._dataset("clicks", 1), self._dataset("judged", 2)
        job = self._client.create("/v1/jobs", {**_TRAINING, "dataset_id": clicks, "hyperparameters": small})
        self._until_ended(job)
        self._put_to_alias("", {"version": 1})
        gate = {"dataset_id": judged, "metric": "ndcg@5", "permutations": 1000, "max_slice_drop": 1.0}
        self._put_to_alias("/gate", {**gate, "require": "not_worse"})
        long = {**_TRAINING, "dataset": "clicks", "hyperparameters": {**small, "num_iterations": 300}}
        request = {"name": "minutely", "cron": "* * * * *", "job": long, "promote": {"alias": "champion"}}
        schedule = self._client.create("/v1/schedules", request)
        self._schedule_id = schedule["id"]
        return moment(schedule["next_run_at"])

    def _end(self) -> datetime:
        """Wait for a run after the last kill, disable the schedule, and return the last due time."""
        earlier = {run["id"] for run in self._runs()}
        self._installation.wait_until(
            lambda: any(run["id"] not in earlier for run in self._runs()),
            LIMIT_SECONDS,
            "a run after the last kill",
        )
        url = f"{self._installation.url}/v1/schedules/{self._schedule_id}"
        httpx.patch(url, json={"enabled": False}, trust_env=False).raise_for_status()
        self._installation.wait_until(self._is_idle, LIMIT_SECONDS, "the last run has ended")
        return moment(self._runs()[0]["due_at"])

    def _is_idle(self) -> bool:
        return all(run["finished_at"] for run in self._runs()[:1])

    def _this_minute(self) -> datetime:
        return self._clock.now().replace(second=0, microsecond=0)

    def _runs(self) -> list[Document]:
        """Return the runs, newest first."""
        page = self._client.get(f"/v1/schedules/{self._schedule_id}/runs", limit=200)
        items: list[Document] = page["items"]
        return items

    def _dataset(self, name: str, seed: int) -> str:
        body = {"name": name, "queries": 200, "seed": seed, "polynomial_seed": 3}
        dataset_id = str(self._client.create("/v1/datasets/synthetic", body)["id"])
        self._installation.wait_until(
            lambda: self._client.get(f"/v1/datasets/{dataset_id}")["status"] == "ready", LIMIT_SECONDS, name
        )
        return dataset_id

    def _until_ended(self, job: Document) -> None:
        path = f"/v1/jobs/{job['id']}"
        self._installation.wait_until(
            lambda: self._client.get(path)["status"] in ENDED, LIMIT_SECONDS, "a training"
        )

    def _put_to_alias(self, subpath: str, body: Document) -> None:
        url = f"{self._installation.url}/v1/models/web/aliases/champion{subpath}"
        httpx.put(url, json=body, trust_env=False).raise_for_status()


_MOMENTS: Mapping[str, Callable[[ScheduleCampaign], None]] = MappingProxyType(
    {
        "around the due time": lambda campaign: campaign.set_clock_before_a_due_time(),
        "after the job was queued": lambda campaign: campaign.wait_for_run("queued", "training"),
        "in the training": lambda campaign: campaign.wait_for_run("training"),
        "in the promotion": lambda campaign: campaign.wait_for_run("promoting"),
        "after the promotion": lambda campaign: campaign.wait_for_run("promoted", "refused"),
    }
)


def main() -> int:
    """Run the campaign on both kinds of store; return 0 without problems, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=15, help="number of kills on each kind of store")
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--store", choices=("embedded", "servers"), help="run on this kind of store only")
    arguments = parser.parse_args()
    good = True
    for store in ("embedded", "servers") if arguments.store is None else (arguments.store,):
        with (
            tempfile.TemporaryDirectory(prefix="rankery-schedules-") as name,
            _installed(store, Path(name), clock := ServiceClock(Path(name) / "clock")) as installation,
            RetryingClient(installation.url) as client,
        ):
            began_at = time.monotonic()
            campaign = ScheduleCampaign(installation, client, clock, arguments.seed, _print_indented)
            outcome = campaign.run(arguments.kills)
        good &= _show_outcome(store, outcome, time.monotonic() - began_at)
    return 0 if good else 1


@contextmanager
def _installed(store: str, folder: Path, clock: ServiceClock) -> Iterator[Installation]:
    settings = {**SETTINGS, **clock.environment}
    if store == "embedded":
        with on_one_disk(folder / "disk", mount=False, settings=settings) as installation:
            yield installation
        return
    with (
        Servers.running(folder) as servers,
        on_servers(servers, "schedules", workers=2, settings=settings) as installation,
    ):
        yield installation


def _show_outcome(store: str, outcome: Outcome, seconds: float) -> bool:
    """Print the outcome, and return whether there are no problems."""
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(outcome.statuses.items()))
    kills = f"{len(outcome.kill_moments)} kills in {seconds:.0f} s"
    lines = [
        f"{store}: {kills}; runs: {statuses}; {outcome.missed} due times missed",
        *(f"  WRONG: {problem}" for problem in outcome.problems[:10]),
    ]
    print("\n".join(lines), flush=True)  # noqa: T201
    return not outcome.problems


def _print_indented(text: str) -> None:
    print(f"  {text}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
