"""`make test-events`: send events to a webhook and a stream while the API and the worker are restarted."""

import argparse
import itertools
import json
import random
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from tests.faults.installation import Installation, Servers, on_one_disk, on_servers
from tests.faults.parts import kill_all
from tests.integration.services import QUICK_RECOVERY
from tests.servers.webhook_receiver import Received, Receiver, running_receiver

SETTINGS = {
    **QUICK_RECOVERY,
    "RANKERY_OUTBOUND_ALLOWED": "127.0.0.1",
    "RANKERY_WEBHOOK_TIMEOUT_SECONDS": "2",
    # A long outage of the API must not use up all attempts for a receiver that sometimes fails.
    "RANKERY_WEBHOOK_RETRY_SECONDS": ",".join(["0.2", "0.5", "1", "2", *["3"] * 16]),
}
ALIASES = 4
ANSWERS = (204, 204, 500, 204, 200, 204, 503, 204, 204)
LIMIT_SECONDS = 300.0
FAULTS: dict[str, Callable[[Installation], object]] = {
    "kill the API": lambda installation: installation.api.kill(),
    "kill the worker": lambda installation: kill_all(installation.workers[0]),
    "restart the API": lambda installation: installation.api.terminate(),
    "restart the worker": lambda installation: installation.workers[0].terminate(),
}


@dataclass
class Outcome:
    """Result of a campaign.

    Attributes:
        events: Ids and objects of all events, in order.
        streamed: Ids that the stream sent, in order.
        received: Requests that the receiver got, in order.
        faults: Faults that were injected.
        connections: Number of connections of the stream's client.
        stopped_seconds: Duration of each orderly stop of the API while its stream was open.
        seconds: Time from the first event to the last delivery.
    """

    events: dict[int, str]
    streamed: list[int]
    received: list[Received]
    faults: list[str]
    connections: int
    stopped_seconds: list[float]
    seconds: float

    @property
    def problems(self) -> list[str]:
        """The problems found, empty without any."""
        problems = []
        if any(each.body is None for each in self.received):
            problems.append("a delivery was not signed with the secret")
        accepted = [each for each in self.received if each.status < 300]
        if missing := set(self.events) - {each.event["id"] for each in accepted}:
            problems.append(f"{len(missing)} events were not delivered: {sorted(missing)[:5]}")
        if foreign := {each.event["id"] for each in self._signed} - set(self.events):
            problems.append(f"events were delivered that did not happen: {sorted(foreign)[:5]}")
        if self.streamed != list(self.events):
            problems.append(
                f"the stream sent {len(self.streamed)} of {len(self.events)} events, or not in order"
            )
        return problems + self._out_of_order()

    @property
    def _signed(self) -> list[Received]:
        return [each for each in self.received if each.body is not None]

    @property
    def repeats(self) -> int:
        """Number of repeated deliveries that the receiver accepted."""
        accepted = [each.event["id"] for each in self.received if each.status < 300]
        return len(accepted) - len(set(accepted))

    def _out_of_order(self) -> list[str]:
        """Return problems about events sent before an earlier event of the same object was accepted."""
        by_object: dict[str, list[Received]] = defaultdict(list)
        for each in self._signed:
            by_object[each.event["object"]["id"]].append(each)
        problems = []
        for name, received in by_object.items():
            expected = [event_id for event_id, of_object in self.events.items() if of_object == name]
            accepted: set[int] = set()
            for each in received:
                earlier = set(expected[: expected.index(each.event["id"])])
                if not earlier <= accepted:
                    problems.append(
                        f"event {each.event['id']} of {name} came before {sorted(earlier - accepted)}"
                    )
                if each.status < 300:
                    accepted.add(each.event["id"])
        return problems


@dataclass
class StreamClient:
    """A client that follows the stream in a thread and reconnects with the last id, like an EventSource."""

    url: str
    after: int
    ids: list[int] = field(default_factory=list)
    connections: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def following(self) -> Iterator["StreamClient"]:
        """Follow during the block."""
        thread = threading.Thread(target=self._follow)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            thread.join()

    def _follow(self) -> None:
        last = self.after
        while not self._ended.is_set():
            headers = {"Accept": "text/event-stream", "Last-Event-ID": str(last)}
            try:
                with httpx.stream(
                    "GET", f"{self.url}/v1/events", headers=headers, timeout=2, trust_env=False
                ) as answer:
                    self.connections += answer.is_success
                    last = self._read(answer, last)
            except httpx.HTTPError:
                last = self.ids[-1] if self.ids else last
            self._ended.wait(0.1)

    def _read(self, answer: httpx.Response, last: int) -> int:
        message: dict[str, str] = {}
        for line in answer.iter_lines():
            if self._ended.is_set():
                return last
            name, _, value = line.partition(": ")
            if line:
                message[name] = value
                continue
            if "." in message.get("event", ""):
                last = int(message["id"])
                assert json.loads(message["data"])["id"] == last
                self.ids.append(last)
            message = {}
        return last


class EventCampaign:
    """Cause events in a running installation while its parts are killed and restarted.

    Args:
        installation: An installation with `SETTINGS`.
        receiver: Receiver of the webhook.
        seed: Seed of random moments.
    """

    def __init__(self, installation: Installation, receiver: Receiver, seed: int) -> None:
        self._installation = installation
        self._receiver = receiver
        self._random = random.Random(seed)
        self._http = httpx.Client(base_url=installation.url, timeout=10, trust_env=False)

    def __enter__(self) -> "EventCampaign":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def run(
        self, n_events: int, faults: list[str], report: Callable[[str], None] = lambda _: None
    ) -> Outcome:
        """Cause at least this number of events, and inject faults at random moments meanwhile.

        Args:
            n_events: Number of events.
            faults: Names of `FAULTS`, in the order of their injection.
            report: Called with a description of each step.
        """
        self._make_models()
        webhook = self._request("POST", "/v1/webhooks", {"url": self._receiver.url})
        self._receiver.set_secret(webhook["secret"])
        self._receiver.answer(*ANSWERS)
        newest = self._request("GET", "/v1/events?limit=1")["items"]
        first = newest[0]["id"] if newest else 0
        started = time.monotonic()
        causing = threading.Thread(target=self._cause, args=(n_events,))
        with StreamClient(self._installation.url, first).following() as stream:
            causing.start()
            stop_seconds = self._inject_faults(faults, report)
            self._installation.wait_until(
                lambda: not causing.is_alive(), LIMIT_SECONDS, "all events were caused"
            )
            self._installation.wait_until(
                lambda: self._all_jobs_ended(), LIMIT_SECONDS, "all jobs have ended"
            )
            # A killed worker is reported some time after its lease has expired.
            self._installation.supervise(0 if "kill the worker" not in faults else 10)
            events = self._events(first)
            report(f"{len(events)} events happened; waiting for their deliveries")
            self._installation.wait_until(
                lambda: (
                    not self._request("GET", f"/v1/webhooks/{webhook['id']}")["waiting"]
                    and len(stream.ids) >= len(events)
                ),
                LIMIT_SECONDS,
                "all events are delivered",
            )
            seconds = time.monotonic() - started
        return Outcome(
            self._events(first),
            stream.ids,
            self._receiver.received(),
            faults,
            stream.connections,
            stop_seconds,
            seconds,
        )

    def _make_models(self) -> None:
        """Train two versions of a model, between which aliases move."""
        dataset = self._request("POST", "/v1/datasets/synthetic", {"queries": 20, "seed": 1})
        self._installation.wait_until(
            lambda: self._request("GET", f"/v1/datasets/{dataset['id']}")["status"] == "ready",
            LIMIT_SECONDS,
            "data",
        )
        training = {
            "kind": "train",
            "model_name": "web",
            "dataset_id": dataset["id"],
            "loss": {"name": "lambdarank"},
            "hyperparameters": {"num_iterations": 2, "num_leaves": 4},
        }
        for _ in range(2):
            self._request("POST", "/v1/jobs", training)
        self._installation.wait_until(self._all_jobs_ended, LIMIT_SECONDS, "models")
        assert len(self._request("GET", "/v1/models?name=web")["items"]) == 2

    def _cause(self, n_events: int) -> None:
        """Cause events: create datasets, whose jobs end and which become ready, and move aliases."""
        versions = itertools.cycle([1] * ALIASES + [2] * ALIASES)
        for number in range(0, n_events, 2):
            if number % 4:
                body = {"queries": 2, "features": 3, "seed": number, "name": f"d{number}"}
                self._request("POST", "/v1/datasets/synthetic", body, key=f"dataset {number}")
            else:
                for _ in range(2):
                    version = next(versions)
                    alias = f"a{next(self._alias_numbers)}"
                    self._request("PUT", f"/v1/models/web/aliases/{alias}", {"version": version})
            time.sleep(self._random.uniform(0, 0.05))

    _alias_numbers = itertools.cycle(range(ALIASES))

    def _inject_faults(self, faults: list[str], report: Callable[[str], None]) -> list[float]:
        """Inject each fault at a random moment; return the seconds of each orderly stop of the API."""
        stop_seconds = []
        for name in faults:
            self._installation.supervise(self._random.uniform(1, 3))
            report(name)
            result = FAULTS[name](self._installation)
            if name == "restart the API" and isinstance(result, tuple):
                stop_seconds.append(result[1])
            self._installation.wait_until(self._installation.is_ready, LIMIT_SECONDS, "the API is ready")
        return stop_seconds

    def _all_jobs_ended(self) -> bool:
        active = [
            self._request("GET", f"/v1/jobs?status={status}")["items"] for status in ("queued", "running")
        ]
        return not any(active)

    def _events(self, after: int) -> dict[int, str]:
        objects: dict[int, str] = {}
        cursor = ""
        while True:
            page = self._request("GET", f"/v1/events?order=asc&limit=200&after={after}{cursor}")
            objects |= {event["id"]: event["object"]["id"] for event in page["items"]}
            if page["next_cursor"] is None:
                return objects
            cursor = f"&cursor={page['next_cursor']}"

    def _request(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Send a request until it succeeds, and return its answer."""
        headers = {} if key is None else {"Idempotency-Key": key}
        deadline = time.monotonic() + LIMIT_SECONDS
        while True:
            try:
                answer = self._http.request(method, path, json=body, headers=headers)
                if answer.status_code not in (429, 503):
                    answer.raise_for_status()
                    return answer.json()
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline
            if threading.current_thread() is threading.main_thread():
                self._installation.supervise(0.1)
            else:
                time.sleep(0.1)


def main() -> int:
    """Run the campaign on both kinds of store; return 0 without problems, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--events", type=int, default=500, help="minimum number of events on each kind of store"
    )
    parser.add_argument("--faults", type=int, default=8, help="number of kills and restarts")
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--store", choices=("embedded", "servers"), help="run on this kind of store only")
    arguments = parser.parse_args()
    faults = list(itertools.islice(itertools.cycle(FAULTS), arguments.faults))
    good = True
    for store in ("embedded", "servers") if arguments.store is None else (arguments.store,):
        with (
            tempfile.TemporaryDirectory(prefix="rankery-events-") as name,
            _installed(store, Path(name)) as installation,
            running_receiver(Path(name) / "receiver") as receiver,
            EventCampaign(installation, receiver, arguments.seed) as campaign,
        ):
            outcome = campaign.run(arguments.events, faults, _print_indented)
        good &= _show_outcome(store, outcome)
    return 0 if good else 1


def _print_indented(text: str) -> None:
    print(f"  {text}", flush=True)  # noqa: T201


@contextmanager
def _installed(store: str, folder: Path) -> Iterator[Installation]:
    if store == "embedded":
        with on_one_disk(folder / "disk", mount=False, settings=SETTINGS) as installation:
            yield installation
        return
    with (
        Servers.running(folder) as servers,
        on_servers(servers, "events", workers=1, settings=SETTINGS) as installation,
    ):
        yield installation


def _show_outcome(store: str, outcome: Outcome) -> bool:
    """Print the outcome, and return whether there are no problems."""
    stopped = ", ".join(f"{seconds:.1f}" for seconds in outcome.stopped_seconds)
    lines = [
        f"{store}: {len(outcome.events)} events in {outcome.seconds:.0f} s, {len(outcome.faults)} faults",
        f"  webhook: {len(outcome.received)} requests, {outcome.repeats} events accepted more than once",
        f"  stream: {len(outcome.streamed)} events over {outcome.connections} connections",
        f"  seconds to stop the API with its stream open: {stopped or '-'}",
        *(f"  WRONG: {problem}" for problem in outcome.problems[:10]),
    ]
    print("\n".join(lines), flush=True)  # noqa: T201
    return not outcome.problems


if __name__ == "__main__":
    sys.exit(main())
