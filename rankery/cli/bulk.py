"""Operations on many objects: selection, confirmation and deletion."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from rankery.cli import options
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED, WrongUsage
from rankery.cli.printing import moment, plain, show, size, table
from rankery.cli.service_options import on_service, with_options

if TYPE_CHECKING:
    from rankery.client.schemas.answers import Deletion
    from rankery.client.synchronous.lifecycle_calls import Deletable

Ids = Annotated[list[str] | None, typer.Argument(help="Ids; for models also references such as web:3.")]


@dataclass(frozen=True)
class Filter:
    """A command-line filter that selects objects.

    Attributes:
        field: Name of the filter in API requests.
    """

    option: Any
    field: str


_COMMON_FILTERS = {
    "older_than": Filter(options.OlderThan, "older_than_days"),
    "created_before": Filter(options.CreatedBefore, "created_before"),
    "project": Filter(options.OfProject, "project"),
    "everything": Filter(options.Everything, "all"),
}
_ON_DATASET = Filter(options.OnDataset, "dataset_id")
_OF_MODEL = Filter(options.OfModel, "model_id")
# Filters of each noun, in addition to the common ones.
_FILTERS: Mapping[str, Mapping[str, Filter]] = {
    "jobs": {
        "status": Filter(options.OfJobStatus, "status"),
        "kind": Filter(options.OfKind, "kind"),
        "dataset": Filter(options.OnDataset, "dataset"),
        "tag": Filter(options.WithTag, "tag"),
    },
    "models": {"name": Filter(options.OfName, "name"), "tag": Filter(options.WithTag, "tag")},
    "evaluations": {"model": _OF_MODEL, "dataset": _ON_DATASET},
    "comparisons": {"dataset": _ON_DATASET},
    "rankings": {"dataset": _ON_DATASET},
    "inspections": {"model": _OF_MODEL, "dataset": _ON_DATASET},
    "studies": {"status": Filter(options.OfStatus, "status"), "dataset": _ON_DATASET},
    "experiments": {"status": Filter(options.OfStatus, "status"), "paper": Filter(options.OfPaper, "paper")},
}


def with_filters(command: Callable[..., None], noun: str) -> Callable[..., None]:
    """Replace the `**` parameter of a command by filter options, and add a service connection."""
    return on_service(with_options({name: one.option for name, one in _filters(noun).items()})(command))


def selection(noun: str, ids: list[str] | None, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the client arguments that select objects by ids or by filters.

    Args:
        filters: The values of the options that `with_filters` gave to the command.

    Raises:
        WrongUsage: Ids and filters are both given, or both missing.
    """
    chosen_filters = {
        name: value for name, value in filters.items() if value is not None and value is not False
    }
    if bool(ids) == bool(chosen_filters):
        raise WrongUsage("give either ids or a filter such as --older-than 30; --all selects all objects")
    if ids:
        return {"ids": ids}
    if "tag" in chosen_filters:
        chosen_filters["tag"] = [chosen_filters["tag"]]
    if "created_before" in chosen_filters:
        chosen_filters["created_before"] = _parse_moment(chosen_filters["created_before"])
    available = _filters(noun)
    return {"where": {available[name].field: value for name, value in chosen_filters.items()}}


def confirm(session: ServiceConnection, preview: Iterable[RenderableType], question: str) -> None:
    """Show a preview and ask for confirmation; abort the command if the answer is no.

    Raises:
        WrongUsage: There is no terminal to ask on, or the output is JSON.
    """
    if session.json or not sys.stdin.isatty():
        raise WrongUsage("confirming needs a terminal, without --json: give --yes, or --dry-run to preview")
    show(*preview)
    typer.confirm(question, abort=True, err=True)


def add_delete(group: typer.Typer, noun: "Deletable", *examples: str) -> None:
    """Add `rankery NOUN delete` to the commands of a noun.

    Args:
        noun: Noun for the objects, for messages and help.
        *examples: Arguments of the command, for its help.
    """

    def delete(
        session: ServiceConnection,
        ids: Ids = None,
        with_results: Annotated[
            bool, typer.Option("--with-results", help="Also delete their results: models, evaluations, …")
        ] = False,
        permanently: options.Permanently = False,
        dry_run: options.DryRun = False,
        yes: options.Yes = False,
        **filters: Any,
    ) -> None:
        chosen = selection(noun, ids, filters)

        def run(*, dry_run: bool) -> "Deletion":
            return session.client.delete(
                noun, **chosen, with_results=with_results, permanently=permanently, dry_run=dry_run
            )

        delete_after_confirmation(
            session, run, by_ids=bool(ids), dry_run=dry_run, yes=yes, offer_results=not with_results
        )

    delete.__doc__ = "\n\n".join(
        [
            f"Delete {noun} by ids or by filters; a preview and a confirmation come first.",
            "Objects that an alias, a gate, a study or another object needs are not deleted; they are listed"
            " with these dependents, and the exit code is 1 if they were named by ids. Without --permanently"
            " the others move to the trash; `rankery trash restore` restores them.",
            *(f"Example: `rankery {noun} delete {example}`" for example in examples),
        ]
    )
    group.command("delete")(with_filters(delete, noun))


def delete_after_confirmation(
    session: ServiceConnection,
    run: "Callable[..., Deletion]",
    *,
    by_ids: bool,
    dry_run: bool,
    yes: bool,
    offer_results: bool = False,
) -> None:
    """Preview a deletion, ask for confirmation and delete.

    The exit code is 1 if an object given by its id is not deleted. A filter also selects objects in use, such
    as the champion among old versions.

    Args:
        run: Deletes, or previews the deletion with `dry_run`.
        by_ids: Whether the objects are given by ids, not by a filter.
        dry_run: Whether only to preview.
        yes: Whether to delete without a confirmation.
        offer_results: Whether to mention `--with-results` if an object is not deleted.
    """
    done = run(dry_run=dry_run or not yes)
    if done.deleted and not dry_run and not yes:
        confirm(session, _deletion_tables(done, offer_results=offer_results), "Delete them?")
        done = run(dry_run=False)
    session.show(done, *_deletion_tables(done, offer_results=offer_results))
    if by_ids and (done.refused_count or done.missing):
        raise typer.Exit(FAILED)


def _filters(noun: str) -> dict[str, Filter]:
    return {**_FILTERS[noun], **_COMMON_FILTERS}


def _parse_moment(text: str) -> str:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise WrongUsage(
            f"--created-before takes a date or a time such as 2026-05-01, not {text!r}"
        ) from None
    return at.isoformat() if at.tzinfo else f"{at.isoformat()}Z"


def _deletion_tables(deletion: "Deletion", *, offer_results: bool) -> list[RenderableType]:
    """Return the summary of a deletion, and a table of the refused objects with their dependents.

    Args:
        offer_results: Whether to mention `--with-results`.
    """
    from rankery.client.display.texts import kinds

    verb = "would delete" if deletion.dry_run else "deleted"
    if not deletion.deleted:
        verb = "nothing to delete"
    when = "immediately" if deletion.purge_at is None else f"at {moment(deletion.purge_at)} UTC"
    freed = f"; {size(deletion.size_bytes)} are freed {when}" if deletion.deleted else ""
    shown: list[RenderableType] = [f"{verb} {kinds(deletion.deleted)}{freed}".rstrip()]
    if deletion.missing:
        shown.append(f"not found: {plain(', '.join(deletion.missing))}")
    if deletion.refused:
        refused = table("not deleted", "name", "needed by", wrap=("needed by",))
        for one in deletion.refused:
            # Commands take the id; the name of a comparison is its conclusion, which is long.
            holders = "; ".join(f"{by.kind} {by.id} ({by.reason})" for by in one.holders)
            refused.add_row(one.id, plain(one.name or ""), plain(holders))
        advice = "; --with-results also deletes their results" if offer_results else ""
        shown += [refused, f"Objects that others need are not deleted{advice}."]
        if deletion.refused_count > len(deletion.refused):
            shown.append(f"{deletion.refused_count:,} objects in total are not deleted")
    return shown
