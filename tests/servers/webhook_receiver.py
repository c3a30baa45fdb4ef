"""Receivers of webhooks in a separate process, which verify signatures and sometimes fail."""

import contextlib
import itertools
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rankery.webhooks import verify_webhook

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Received:
    """A request that the receiver got.

    Attributes:
        message_id: Its `webhook-id`.
        body: Its JSON, None if its signature was wrong.
        status: Status of the answer.
        headers: All headers, with names in lower case.
    """

    message_id: str
    body: dict[str, Any] | None
    status: int
    headers: dict[str, str]

    @property
    def event(self) -> dict[str, Any]:
        """The event in the body."""
        assert self.body is not None, "the signature was wrong"
        event: dict[str, Any] = self.body["data"]
        return event


class Receiver:
    """A running receiver.

    Attributes:
        url: URL of the receiver.
    """

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self.url = url

    def set_secret(self, secret: str) -> None:
        """Set the secret with which signatures are verified from now on."""
        _write(self._folder / "secret", secret)

    def answer(self, *statuses: int, body: str = "", seconds: float = 0, **headers: str) -> None:
        """Set the statuses of the following answers, which repeat in a cycle, and headers by name."""
        answers = {"statuses": statuses, "body": body, "seconds": seconds, "headers": headers}
        _write(self._folder / "answers", json.dumps(answers))

    def received(self) -> list[Received]:
        """Return all requests so far, in the order of their arrival."""
        log = self._folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [Received(**json.loads(line)) for line in lines]

    def delivered(self) -> list[dict[str, Any]]:
        """Return the events that the receiver accepted, in order."""
        return [each.event for each in self.received() if each.status < 300]


class Receivers:
    """A running process that contains any number of receivers.

    Args:
        folder: Folder of the receivers.
        port: Port that the process listens on.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port
        self._numbers = itertools.count(1)

    def new(self) -> Receiver:
        """Return a receiver that has received nothing, verifies nothing and answers 204."""
        name = f"hook-{next(self._numbers)}"
        (self._folder / name).mkdir(parents=True)
        receiver = Receiver(self._folder / name, f"http://{HOST}:{self._port}/{name}")
        receiver.answer(204)
        return receiver


@contextlib.contextmanager
def running_receiver(folder: Path) -> Iterator[Receiver]:
    """Run a receiver during the block.

    Args:
        folder: Folder of its log, its secret and its answers.
    """
    with running_receivers(folder) as receivers:
        yield receivers.new()


@contextlib.contextmanager
def running_receivers(folder: Path) -> Iterator[Receivers]:
    """Run a process of receivers during the block.

    Args:
        folder: Folder of their logs, secrets and answers.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(folder, theirs), daemon=True)
    process.start()
    try:
        yield Receivers(folder, ours.recv())
    finally:
        process.kill()
        process.join()


def _write(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def _serve(folders: Path, connection: Any) -> None:
    server = ThreadingHTTPServer((HOST, 0), _handler(folders))
    connection.send(server.server_address[1])
    server.serve_forever()


def _handler(folders: Path) -> type[BaseHTTPRequestHandler]:
    counts: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            folder = folders / self.path.removeprefix("/")
            size = int(self.headers["Content-Length"])
            body = self.rfile.read(size)
            if len(body) < size:  # the sender was killed
                return
            answers = json.loads((folder / "answers").read_text())
            status = answers["statuses"][counts[self.path] % len(answers["statuses"])]
            counts[self.path] += 1
            verified = None
            if (secret := folder / "secret").exists():
                with contextlib.suppress(Exception):
                    verified = verify_webhook(body, dict(self.headers.items()), secret.read_text())
                status = status if verified is not None else 401
            time.sleep(answers["seconds"])
            headers = {name.lower(): value for name, value in self.headers.items()}
            # Logged before the answer, so that the log has each request that the sender regards as delivered.
            entry = {"message_id": headers["webhook-id"], "body": verified, "status": status}
            with (folder / "log").open("a") as log:
                log.write(json.dumps({**entry, "headers": headers}) + "\n")
            self.send_response(status)
            for name, value in answers["headers"].items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(answers["body"])))
            self.end_headers()
            if status != 204:
                self.wfile.write(answers["body"].encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    return Handler
