"""Options that select the objects of a bulk operation, in the place of ids."""

from datetime import datetime
from typing import Annotated, Any

import typer

from rankery.cli.endings import WrongUsage

_PANEL = "Which ones, in the place of ids"


def _filter(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_PANEL, **more)


Ids = Annotated[list[str] | None, typer.Argument(help="Ids; of models also references such as web:3.")]
OlderThan = Annotated[float | None, _filter(help="At least so many days old.", min=0, metavar="DAYS")]
CreatedBefore = Annotated[
    str | None, _filter(help="Made before this day or moment, UTC.", metavar="2026-05-01")
]
OfStatus = Annotated[str | None, _filter("--status", help="Jobs in this status, such as failed.")]
OfJobKind = Annotated[
    str | None, _filter("--job-kind", help="Jobs of this kind, such as train.", metavar="KIND")
]
OfName = Annotated[str | None, _filter("--name", help="Versions of this model.")]
OfModel = Annotated[str | None, _filter("--model", help="Evaluations and inspections of this model.")]
OnDataset = Annotated[str | None, _filter("--dataset", help="On this dataset, ds_…")]
WithTag = Annotated[str | None, _filter("--tag", help="Jobs and models with this tag: team, or team:search.")]
OfProject = Annotated[str | None, _filter("--project", help="Of this project; - for those of none.")]
Everything = Annotated[bool, _filter("--all", help="All there are.")]


def selection(
    ids: list[str] | None, *, created_before: str | None, tag: str | None, everything: bool, **filters: Any
) -> dict[str, Any]:
    """Return the arguments of the client that select by ids or by a filter.

    Raises:
        WrongUsage: Neither ids nor a filter are given, or both.
    """
    every = {
        **filters,
        "created_before": _moment(created_before),
        "tag": tag and [tag],
        "all": everything or None,
    }
    where = {key: value for key, value in every.items() if value is not None}
    if bool(ids) == bool(where):
        raise WrongUsage("give either ids or a filter such as --older-than 30; --all for all there are")
    return {"where": where} if where else {"ids": ids}


def _moment(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise WrongUsage(
            f"--created-before takes a day or a moment such as 2026-05-01, not {text!r}"
        ) from None
    return at.isoformat() if at.tzinfo else f"{at.isoformat()}Z"
