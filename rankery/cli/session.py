"""How a command reaches a service, and prints what it got there."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property, wraps
from inspect import Parameter, signature
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from rankery.cli.options import DEFAULT_DATA_DIR, Json
from rankery.cli.printing import say, show, show_json
from rankery.errors import KeyRefused, StackError

if TYPE_CHECKING:
    from rankery.client import Client
    from rankery.embedded.stack import EmbeddedStack

_START_SECONDS = 120.0
_POLL_SECONDS = 0.1
_PANEL = "Service"

Url = Annotated[
    str | None,
    typer.Option(
        envvar="RANKERY_URL",
        help="A running service's address; without one, the service of the data folder.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        envvar="RANKERY_API_KEY",
        help="Secret of an API key, rk_…; the variable keeps it out of the process list.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
DataDir = Annotated[
    Path,
    typer.Option(
        envvar="RANKERY_DATA_DIR",
        help="Data folder; where no service has it, one is started for the time of the command.",
        rich_help_panel=_PANEL,
    ),
]


class Session:
    """One command's conversation with one service, reached when it is first asked for something.

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

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()
        if isinstance(error, KeyRefused):
            raise KeyRefused(error.status, error.problem, error.has_key) from error

    @cached_property
    def client(self) -> "Client":
        """The client of the service."""
        from rankery.client import Client

        address = self._url or self._address_of_folder()
        return self._resources.enter_context(Client(address, api_key=self._api_key))

    @property
    def is_embedded(self) -> bool:
        """Whether the service lives as long as the command."""
        return self._stack is not None

    def check(self) -> None:
        """Notice that the command's own service has died.

        Raises:
            StackError: It has.
        """
        if self._stack is not None:
            self._stack.check()

    def show(self, document: Any, *pictures: RenderableType) -> None:
        """Print a result: plain values for programs, or tables and sentences for people."""
        if self.json:
            show_json(document)
        else:
            show(*pictures)

    def _address_of_folder(self) -> str:
        from rankery.embedded.lock import DataFolderInUse
        from rankery.embedded.signals import terminable
        from rankery.embedded.stack import EmbeddedStack

        stack = EmbeddedStack(self._data_dir)
        try:
            stack.reserve()
        except DataFolderInUse:
            return _address_left_in(self._data_dir)
        say(f"no service has {self._data_dir}: starting one for this command")
        self._resources.enter_context(terminable())
        self._stack = self._resources.enter_context(stack)
        return stack.url


def on_service(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a session as its first argument, and the options that say with which service.

    Typer reads the options from the signature.
    """

    @wraps(command)
    def run(
        *,
        url: str | None,
        api_key: str | None,
        data_dir: Path,
        json: bool,
        **arguments: Any,
    ) -> None:
        with Session(url, api_key, data_dir, json=json) as session:
            command(session, **arguments)

    _, *own = signature(command).parameters.values()
    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*own, *_OPTIONS)]
    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


_OPTIONS = tuple(
    Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("json", False, Json),
        ("url", None, Url),
        ("api_key", None, ApiKey),
        ("data_dir", DEFAULT_DATA_DIR, DataDir),
    )
)


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
