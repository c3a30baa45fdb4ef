"""Connection of a command to a service."""

import os
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from rankery.cli.endings import Interrupted
from rankery.cli.options import DEFAULT_DATA_DIR
from rankery.cli.printing import json_line, say, show, show_json, show_text
from rankery.errors import (
    JobFailed,
    KeyRefused,
    PackageMissing,
    RankeryApiError,
    StackError,
    UserError,
)
from rankery.server_package import require_server_package
from rankery.verbosity import quietly

if TYPE_CHECKING:
    from rankery.client import Client, Job
    from rankery.embedded.stack import EmbeddedStack

_PAGE = 100
_START_SECONDS = 120.0
_POLL_SECONDS = 0.1
_FIRST_ANSWER_SECONDS = 3.0


class KeyWanted(UserError):
    """Raised when the service needs an API key, or another one."""


class NoService(UserError):
    """Raised when a command needs a service and none runs."""


class NotInTime(UserError):
    """Raised when a wait times out."""


class ServiceConnection:
    """A command's lazy connection to one service.

    That is the service at `url`; else the one that has the data folder. Where neither runs, only a command
    that calls `allow_own_service` starts one on the folder, for its own time; what was made stays there.

    Attributes:
        json: Whether standard output is for programs.
    """

    def __init__(
        self, url: str | None, api_key: str | None, data_dir: Path, *, json: bool, quiet: bool = False
    ) -> None:
        self.json = json
        self._quiet = quiet
        self._has_shown = False
        self._starts_service = False
        self._url = url
        self._api_key = api_key
        self._data_dir = data_dir
        self._resources = ExitStack()
        self._stack: EmbeddedStack | None = None

    def __enter__(self) -> "ServiceConnection":
        if self._quiet:
            self._resources.enter_context(quietly())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()
        if isinstance(error, UserError) and self.json and not self._has_shown:
            problem = error.problem if isinstance(error, RankeryApiError) else {"detail": str(error)}
            show_text(f"{json_line({'problem': problem})}\n")
        if isinstance(error, KeyRefused):
            raise KeyWanted(self._key_sentence(error)) from error

    @cached_property
    def client(self) -> "Client":
        """The client of the service."""
        address = self._address_of_folder() if self._url is None else self._answering(self._url)
        from rankery.client import Client  # after the address: its import takes longer than the whole refusal

        return self._resources.enter_context(Client(address, api_key=self._api_key))

    def allow_own_service(self) -> None:
        """Start a service for the time of the command where none has the data folder."""
        self._starts_service = True

    @property
    def is_embedded(self) -> bool:
        """Whether the service, once it was reached, lives as long as the command."""
        return self._stack is not None

    def show(self, document: Any, *pictures: RenderableType) -> None:
        """Print a result: plain values for programs, or tables and sentences for people."""
        self._has_shown = True
        if self.json:
            show_json(document)
        else:
            show(*pictures)

    def items(self, path: str, limit: int, **parameters: Any) -> list[dict[str, Any]]:
        """Return the first items of a list of the service, over its pages.

        Args:
            path: Path of the list.
            limit: Largest number of items.
            **parameters: Of the query; those that are None are left out.
        """
        items: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            query = {**parameters, "cursor": cursor, "limit": min(_PAGE, limit - len(items))}
            page = self.client.request("GET", path, parameters=query).json()
            items += page["items"]
            cursor = page.get("next_cursor")
            if cursor is None or len(items) >= limit:
                return items[:limit]

    def wait(self, job: "Job") -> "Job":
        """Wait until a job has succeeded, with a bar where a person looks on.

        Raises:
            JobFailed: It failed or was cancelled.
            StackError: The service that the command started has died.
            Interrupted: Someone stopped the command; the job continues, now or later.
        """
        with self._watching([job]):
            return job.wait(lambda _: self.check())

    def wait_all(self, jobs: "Sequence[Job]", timeout_seconds: float | None = None) -> None:
        """Wait until all jobs have ended, well or not, one after the other.

        Raises:
            NotInTime: They have not all ended in time.
            StackError: As `wait`.
            Interrupted: As `wait`.
        """
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        with self._watching(jobs):
            for job in jobs:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                try:
                    job.wait(lambda _: self.check(), timeout_seconds=left)
                except JobFailed:
                    pass
                except TimeoutError:
                    raise NotInTime(f"{job.id} is still {job.status} after {timeout_seconds:g} s") from None

    @contextmanager
    def _watching(self, jobs: "Sequence[Job]") -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            raise Interrupted(self._left_behind([job.id for job in jobs])) from None

    def check(self) -> None:
        """Raise if the embedded service has died.

        Raises:
            StackError: It has.
        """
        if self._stack is not None:
            self._stack.check()

    def command(self, words: str) -> str:
        """Return a command that reaches the same service."""
        if self._url is not None:
            return f"rankery {words}{_option('--url', self._url, 'RANKERY_URL')}"
        if self._data_dir == DEFAULT_DATA_DIR:
            return f"rankery {words}"
        return f"rankery {words}{_option('--data-dir', str(self._data_dir), 'RANKERY_DATA_DIR')}"

    def _answering(self, url: str) -> str:
        """Return a URL at which something answers; retries are for a service that was there before."""
        import httpx

        from rankery.client.reading import address

        url = address(url)
        try:
            httpx.get(f"{url.rstrip('/')}/healthz", timeout=_FIRST_ANSWER_SECONDS)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            reason = str(error) or f"no connection within {_FIRST_ANSWER_SECONDS:g} s"
            raise NoService(
                f"no service answers at {url} ({reason}): start it there, correct --url or RANKERY_URL, or"
                " leave them out and start one here with `rankery serve`"
            ) from error
        except httpx.HTTPError:
            pass  # it is slow, and the request itself is more patient
        say(f"using the service at {url}")
        return url

    def _address_of_folder(self) -> str:
        from rankery.embedded.lock import DataFolderLock

        if DataFolderLock(self._data_dir).is_taken():
            return self._address_left()
        if not self._starts_service:
            raise NoService(self._how_to_start())
        return self._own_service()

    def _how_to_start(self) -> str:
        try:
            require_server_package()
        except PackageMissing as error:
            return f"name a running service with --url or RANKERY_URL; to run one here, {error}"
        serve = self.command("serve")
        return (
            f"no service has {self._data_dir}: start one with `{serve}` in another terminal, or name a"
            " running one with --url or RANKERY_URL"
        )

    def _own_service(self) -> str:
        from rankery.embedded.lock import DataFolderInUse
        from rankery.embedded.signals import terminable
        from rankery.embedded.stack import EmbeddedStack

        stack = EmbeddedStack(self._data_dir)
        try:
            stack.reserve()
        except DataFolderInUse:
            return self._address_left()
        except PackageMissing as error:
            raise PackageMissing(f"{error}, or name a running service with --url") from None
        say(f"no service has {self._data_dir}: starting one for this command")
        self._resources.enter_context(terminable())
        self._stack = self._resources.enter_context(stack)
        return stack.url

    def _address_left(self) -> str:
        """Return the address of the service that has the folder, which may still be starting."""
        from rankery.embedded.lock import DataFolderLock

        lock = DataFolderLock(self._data_dir)
        deadline = time.monotonic() + _START_SECONDS
        while (address := lock.address()) is None:
            if time.monotonic() > deadline:
                raise StackError(
                    f"the service of {self._data_dir} has told no address for {_START_SECONDS:g} s;"
                    " look into its logs, or give --url"
                )
            time.sleep(_POLL_SECONDS)
        say(f"using the service of {self._data_dir} at {address}")
        return address

    def _left_behind(self, jobs: Sequence[str]) -> str:
        names = " ".join(jobs)
        again = self.command(f"jobs wait {names}")
        what = f"the job {names}" if len(jobs) == 1 else f"the jobs {names}"
        if self.is_embedded:
            return (
                f"stopped, and the service of this command with it; {what} will go on where it was"
                f" as soon as `{self.command('serve')}` runs: then `{again}` watches again"
            )
        goes, it = ("goes", "it") if len(jobs) == 1 else ("go", "them")
        cancel = self.command(f"jobs cancel {names}")
        return f"stopped watching; {what} {goes} on: `{again}` watches again, `{cancel}` stops {it}"

    def _key_sentence(self, error: KeyRefused) -> str:
        make = self.command("keys create NAME --scope admin")
        way_out = "" if self._url is not None else f"; `{make}` makes one"
        if error.has_key:
            return f"{error}{way_out}"
        return f"the service wants an API key: set RANKERY_API_KEY to its secret, or pass --api-key{way_out}"


def _option(name: str, value: str, variable: str) -> str:
    return "" if os.environ.get(variable) == value else f" {name} {shlex.quote(value)}"
