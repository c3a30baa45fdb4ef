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

from rankery.cli.exit_codes import Interrupted
from rankery.cli.options import DEFAULT_DATA_DIR
from rankery.cli.printing import say, show, show_json
from rankery.cli.shown_errors import show_problem
from rankery.errors import (
    JobFailed,
    KeyRefused,
    PackageMissing,
    ServiceUnreachable,
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
_CONNECT_TIMEOUT_SECONDS = 3.0


class KeyRequired(UserError):
    """Raised when the service requires an API key, or refuses the given one."""


class NoService(UserError):
    """Raised when a command needs a running service and none is reachable."""


class NotInTime(UserError):
    """Raised when a wait times out."""


class ServiceConnection:
    """Lazy connection of a command to one service.

    The service is the one at `url`, or else the one that holds the lock of the data folder. If neither is
    given or running, a command that called `allow_embedded_service` starts an embedded service on the folder.
    That service stops with the command; stored data stay in the folder.

    Attributes:
        json: Whether to print JSON to standard output.
    """

    def __init__(
        self, url: str | None, api_key: str | None, data_dir: Path, *, json: bool, quiet: bool = False
    ) -> None:
        self.json = json
        self._quiet = quiet
        self._has_shown = False
        self._may_start_service = False
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
            show_problem(error)
        if isinstance(error, KeyRefused):
            raise KeyRequired(self._key_message(error)) from error

    @cached_property
    def client(self) -> "Client":
        """Client of the service, connected on first access."""
        url = self._url_of_folder() if self._url is None else self._reachable_url(self._url)
        from rankery.client import Client  # imported late: the import takes longer than a refusal

        return self._resources.enter_context(Client(url, api_key=self._api_key))

    def allow_embedded_service(self) -> None:
        """Allow this command to start an embedded service if no service uses the data folder."""
        self._may_start_service = True

    @property
    def is_embedded(self) -> bool:
        """True if the command started an embedded service, which stops with the command."""
        return self._stack is not None

    def show(self, document: Any, *renderables: RenderableType) -> None:
        """Print a result: the document as JSON with --json, else the tables and sentences."""
        self._has_shown = True
        if self.json:
            show_json(document)
        else:
            show(*renderables)

    def items(self, path: str, limit: int, **parameters: Any) -> list[dict[str, Any]]:
        """Return the first items of a paginated list of the service.

        Args:
            **parameters: Query parameters; None values are left out.
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
        """Wait until a job has succeeded, with a progress bar on a terminal.

        Raises:
            JobFailed: The job failed or was cancelled.
            StackError: The embedded service has died.
            Interrupted: The user stopped the command. The job continues; one of an embedded service continues
                when a service is started on the data folder again.
        """
        with self._watching([job]):
            return job.wait(lambda _: self.check())

    def wait_all(self, jobs: "Sequence[Job]", timeout_seconds: float | None = None) -> None:
        """Wait until all jobs have ended, whatever their status.

        Raises:
            NotInTime: A job has not ended within `timeout_seconds`.
            StackError: See `wait`.
            Interrupted: See `wait`.
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
            raise Interrupted(self._interruption_message([job.id for job in jobs])) from None
        except ServiceUnreachable as error:
            again = self.command(f"jobs wait {' '.join(job.id for job in jobs)}")
            raise ServiceUnreachable(
                f"{error}; the service resumes its jobs when it is back: `{again}` waits again"
            ) from error

    def check(self) -> None:
        """Raise if the embedded service has died.

        Raises:
            StackError: The embedded service has died.
        """
        if self._stack is not None:
            self._stack.check()

    def command(self, arguments: str) -> str:
        """Return the command line of `rankery` with these arguments and the URL of the same service."""
        if self._url is not None:
            return f"rankery {arguments}{_option('--url', self._url, 'RANKERY_URL')}"
        if self._data_dir == DEFAULT_DATA_DIR:
            return f"rankery {arguments}"
        return f"rankery {arguments}{_option('--data-dir', str(self._data_dir), 'RANKERY_DATA_DIR')}"

    def _reachable_url(self, url: str) -> str:
        """Return the normalised URL of a service after one connection attempt, without retries."""
        import httpx

        from rankery.client.reading import (
            certificate_hint,
            is_on_this_machine,
            proxy_errors,
            proxy_hint,
            service_url,
        )

        url = service_url(url)
        transport = httpx.HTTPTransport() if is_on_this_machine(url) else None
        try:
            with proxy_errors():
                http = httpx.Client(timeout=_CONNECT_TIMEOUT_SECONDS, transport=transport)
            with http:
                response = http.get(f"{url.rstrip('/')}/healthz")
            if response.status_code == httpx.codes.NOT_FOUND:
                raise NoService(
                    f"there is no Rankery service at {url}: {response.url} answers 404; correct --url or"
                    " RANKERY_URL to the address that `rankery serve` prints"
                )
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            reason = str(error) or f"no connection within {_CONNECT_TIMEOUT_SECONDS:g} s"
            if hint := certificate_hint(error):
                raise NoService(f"no connection to {url} ({reason}){hint}") from error
            raise NoService(
                f"no service answers at {url} ({reason}): start it there, correct --url or RANKERY_URL, or"
                f" leave them out and start one here with `rankery serve`{proxy_hint(url)}"
            ) from error
        except httpx.HTTPError:
            pass  # a slow server: requests of the client have a longer timeout
        say(f"using the service at {url}")
        return url

    def _url_of_folder(self) -> str:
        from rankery.embedded.lock import DataFolderLock

        if DataFolderLock(self._data_dir).is_taken():
            return self._wait_for_address()
        if not self._may_start_service:
            raise NoService(self._no_service_message())
        return self._start_embedded_service()

    def _no_service_message(self) -> str:
        try:
            require_server_package()
        except PackageMissing as error:
            return f"give the URL of a running service with --url or RANKERY_URL; to run one here, {error}"
        serve = self.command("serve")
        return (
            f"no service is running for {self._data_dir}: start one with `{serve}` in another terminal, or"
            " give the URL of a running one with --url or RANKERY_URL"
        )

    def _start_embedded_service(self) -> str:
        from rankery.embedded.lock import DataFolderInUse
        from rankery.embedded.process import terminable
        from rankery.embedded.stack import EmbeddedStack

        stack = EmbeddedStack(self._data_dir)
        try:
            stack.reserve()
        except DataFolderInUse:
            return self._wait_for_address()
        except PackageMissing as error:
            raise PackageMissing(f"{error}, or give the URL of a running service with --url") from None
        say(f"no service is running for {self._data_dir}: starting one for this command")
        self._resources.enter_context(terminable())
        self._stack = self._resources.enter_context(stack)
        return stack.url

    def _wait_for_address(self) -> str:
        """Return the URL of the service that uses the data folder; wait while it starts."""
        from rankery.embedded.lock import DataFolderLock

        lock = DataFolderLock(self._data_dir)
        deadline = time.monotonic() + _START_SECONDS
        while (url := lock.read_url()) is None:
            if not lock.is_taken():
                raise StackError(
                    f"the service of {self._data_dir} has ended before it was ready; check its logs, and"
                    f" start it again with `{self.command('serve')}`"
                )
            if time.monotonic() > deadline:
                raise StackError(
                    f"the service of {self._data_dir} has published no address within {_START_SECONDS:g} s;"
                    " check its logs, or give --url"
                )
            time.sleep(_POLL_SECONDS)
        say(f"using the service of {self._data_dir} at {url}")
        return url

    def _interruption_message(self, jobs: Sequence[str]) -> str:
        names = " ".join(jobs)
        again = self.command(f"jobs wait {names}")
        subject = f"the job {names}" if len(jobs) == 1 else f"the jobs {names}"
        if self.is_embedded:
            return (
                f"stopped, together with the service of this command; `{self.command('serve')}` resumes"
                f" {subject}, and `{again}` then waits for it"
            )
        continues, it = ("continues", "it") if len(jobs) == 1 else ("continue", "them")
        cancel = self.command(f"jobs cancel {names}")
        return f"stopped watching; {subject} {continues}: `{again}` waits again, `{cancel}` cancels {it}"

    def _key_message(self, error: KeyRefused) -> str:
        create = self.command("keys create NAME --scope admin")
        hint = "" if self._url is not None else f"; `{create}` creates one"
        if error.has_key:
            return f"{error}{hint}"
        return f"the service requires an API key: set RANKERY_API_KEY to its secret, or pass --api-key{hint}"


def _option(name: str, value: str, variable: str) -> str:
    return "" if os.environ.get(variable) == value else f" {name} {shlex.quote(value)}"
