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
from rankery.cli.printing import say, show, show_json
from rankery.errors import JobFailed, KeyRefused, PackageMissing, StackError, UserError

if TYPE_CHECKING:
    from rankery.client import Client, Job
    from rankery.embedded.stack import EmbeddedStack

_START_SECONDS = 120.0
_POLL_SECONDS = 0.1


class KeyWanted(UserError):
    """Raised when the service needs an API key, or another one."""


class NotInTime(UserError):
    """Raised when a wait times out."""


class ServiceConnection:
    """A command's lazy connection to one service.

    That is the service at `url`; else the one that has the data folder; else one that is started there and
    stopped at the end of the command. What was made stays in the folder.

    Attributes:
        json: Whether standard output is for programs.
    """

    def __init__(self, url: str | None, api_key: str | None, data_dir: Path, *, json: bool) -> None:
        self.json = json
        self._url = url
        self._api_key = api_key
        self._data_dir = data_dir
        self._resources = ExitStack()
        self._stack: EmbeddedStack | None = None

    def __enter__(self) -> "ServiceConnection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()
        if isinstance(error, KeyRefused):
            raise KeyWanted(self._key_sentence(error)) from error

    @cached_property
    def client(self) -> "Client":
        """The client of the service."""
        from rankery.client import Client

        if self._url is not None:
            say(f"using the service at {self._url}")
        address = self._url or self._address_of_folder()
        return self._resources.enter_context(Client(address, api_key=self._api_key))

    @property
    def is_embedded(self) -> bool:
        """Whether the service, once it was reached, lives as long as the command."""
        return self._stack is not None

    def show(self, document: Any, *pictures: RenderableType) -> None:
        """Print a result: plain values for programs, or tables and sentences for people."""
        if self.json:
            show_json(document)
        else:
            show(*pictures)

    def wait(self, job: "Job") -> "Job":
        """Wait until a job has succeeded, with a bar where a person looks on.

        Raises:
            JobFailed: It failed or was cancelled.
            StackError: The command's own service has died.
            Interrupted: Someone stopped the command; the job goes on, now or later.
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

    def _address_of_folder(self) -> str:
        from rankery.embedded.lock import DataFolderInUse
        from rankery.embedded.signals import terminable
        from rankery.embedded.stack import EmbeddedStack

        stack = EmbeddedStack(self._data_dir)
        try:
            stack.reserve()
        except DataFolderInUse:
            return _address_left_in(self._data_dir)
        except PackageMissing as error:
            raise PackageMissing(f"{error}, or name a running service with --url") from None
        say(f"no service has {self._data_dir}: starting one for this command")
        self._resources.enter_context(terminable())
        self._stack = self._resources.enter_context(stack)
        return stack.url

    def _left_behind(self, jobs: Sequence[str]) -> str:
        names = " ".join(jobs)
        again = self.command(f"jobs wait {names}")
        what = f"the job {names}" if len(jobs) == 1 else f"the jobs {names}"
        if self.is_embedded:
            return (
                f"stopped, and the service of this command with it; {what} will go on where it was"
                f" as soon as a service has {self._data_dir} again: `{again}`"
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


def _address_left_in(data_dir: Path) -> str:
    """Return the address of the service that has a folder, which may still be starting."""
    from rankery.embedded.lock import DataFolderLock

    lock = DataFolderLock(data_dir)
    deadline = time.monotonic() + _START_SECONDS
    while (address := lock.address()) is None:
        if time.monotonic() > deadline:
            raise StackError(
                f"the service of {data_dir} has told no address for {_START_SECONDS:g} s;"
                " look into its logs, or give --url"
            )
        time.sleep(_POLL_SECONDS)
    say(f"using the service of {data_dir} at {address}")
    return address


def _option(name: str, value: str, variable: str) -> str:
    return "" if os.environ.get(variable) == value else f" {name} {shlex.quote(value)}"
