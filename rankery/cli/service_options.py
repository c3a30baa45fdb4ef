"""Options of commands that connect to a service, and the decorator that opens the connection."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from rankery.cli.connection import ServiceConnection
from rankery.cli.options import DEFAULT_DATA_DIR, Json, Quiet

_PANEL = "Service"

Url = Annotated[
    str | None,
    typer.Option(
        envvar="RANKERY_URL",
        help="URL of a running service; by default, the service of the data folder is used.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        envvar="RANKERY_API_KEY",
        help="Secret of an API key, rk_…; set the variable to keep it out of the process list.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
DataDir = Annotated[
    Path,
    typer.Option(
        envvar="RANKERY_DATA_DIR",
        help="Data folder of the service to use, such as that of `rankery serve`.",
        rich_help_panel=_PANEL,
    ),
]
_OPTIONS = tuple(
    Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("json", False, Json),
        ("quiet", False, Quiet),
        ("url", None, Url),
        ("api_key", None, ApiKey),
        ("data_dir", DEFAULT_DATA_DIR, DataDir),
    )
)


def on_service(command: Callable[..., None]) -> Callable[..., None]:
    """Add the connection options to a command, and pass it a connection as its first argument.

    Typer reads the options from the signature.
    """

    @wraps(command)
    def run(
        *,
        url: str | None,
        api_key: str | None,
        data_dir: Path,
        json: bool,
        quiet: bool,
        **arguments: Any,
    ) -> None:
        with ServiceConnection(url, api_key, data_dir, json=json, quiet=quiet) as session:
            command(session, **arguments)

    _session, *command_options = signature(command).parameters.values()
    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*command_options, *_OPTIONS)]
    _declare(run, parameters)
    return run


def service_command(
    group: typer.Typer, name: str, **settings: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command that connects to a service to a group of commands."""
    return lambda command: group.command(name, **settings)(on_service(command))


def with_options(options: Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the `**` parameter of a command by options of these names and annotations."""

    def replaced(command: Callable[..., None]) -> Callable[..., None]:
        declared = signature(command).parameters.values()
        kept = [one for one in declared if one.kind is not Parameter.VAR_KEYWORD]
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in options.items()
        ]
        _declare(command, [*kept, *added])
        return command

    return replaced


def _declare(command: Callable[..., None], parameters: list[Parameter]) -> None:
    command.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
