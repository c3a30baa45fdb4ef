"""`rankery trash`, `storage` and `projects`: deleted objects, disk usage and projects."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from rankery.cli.bulk import delete_after_confirmation
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED, WrongUsage
from rankery.cli.names import TrashKind
from rankery.cli.options import DryRun, Limit, Yes
from rankery.cli.printing import moment, plain, say, size, table
from rankery.cli.service_options import service_command

if TYPE_CHECKING:
    from rankery.client.schemas.answers import Deletion

trash = typer.Typer(help="List and restore deleted objects, or purge them immediately.", no_args_is_help=True)
storage = typer.Typer(help="Show the storage that the service uses.", no_args_is_help=True)
projects = typer.Typer(help="List projects.", no_args_is_help=True)


@service_command(trash, "list")
def list_trash(
    session: ServiceConnection,
    kind: Annotated[TrashKind | None, typer.Option(help="Show only objects of this kind.")] = None,
    limit: Limit = 50,
) -> None:
    """List deleted objects in the trash, latest first, with the time at which they are purged.

    Example: `rankery trash list --kind model`
    """
    items = list(islice(session.client.trash(kind), limit))
    shown = table(
        "id", "kind", "name", "bytes", "deleted", "by", "purge at", right=("bytes",), wrap=("name",)
    )
    for one in items:
        by = one.deleted_by or ""
        times = (moment(one.deleted_at), plain(by), moment(one.purge_at))
        shown.add_row(one.id, one.kind, plain(one.name), size(one.size_bytes), *times)
    session.show(items, shown)


@service_command(trash, "restore")
def restore(
    session: ServiceConnection, ids: Annotated[list[str], typer.Argument(help="Ids of the objects.")]
) -> None:
    """Restore objects from the trash, with all objects that they need or that were deleted with them.

    Example: `rankery trash restore mdl_01k9x3a7d5f8g2h4j6k9`
    """
    from rankery.client.display.texts import kinds

    restoration = session.client.restore(*ids)
    say(f"restored {kinds(restoration.restored) or 'nothing'}")
    session.show(
        restoration,
        *([f"not in the trash: {plain(', '.join(restoration.missing))}"] if restoration.missing else []),
    )
    if restoration.missing:
        raise typer.Exit(FAILED)


@service_command(trash, "empty")
def empty_trash(
    session: ServiceConnection,
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids of the objects to purge.", show_default="all")
    ] = None,
    older_than: Annotated[
        float | None,
        typer.Option(min=0, metavar="DAYS", help="Purge only objects deleted at least this many days ago."),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Purge objects from the trash permanently and free their storage.

    Example: `rankery trash empty --older-than 2`
    """
    if ids and older_than is not None:
        raise WrongUsage("give ids or --older-than, not both")

    def run(*, dry_run: bool) -> "Deletion":
        everything = not ids and older_than is None
        return session.client.empty_trash(
            ids or None, older_than_days=older_than, everything=everything, dry_run=dry_run
        )

    delete_after_confirmation(session, run, by_ids=bool(ids), dry_run=dry_run, yes=yes)


@service_command(storage, "show")
def show_storage(
    session: ServiceConnection,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Measure now; by default, numbers are up to a minute old.")
    ] = False,
) -> None:
    """Show the storage used by each kind of object and by the trash, and what retention would free.

    Example: `rankery storage show --refresh`
    """
    storage = session.client.storage(refresh=refresh)
    numbers = ("objects", "size", "in the trash", "retention", "freed by retention")
    shown = table("kind", *numbers, right=numbers)
    for kind in storage.kinds:
        retention = (
            []
            if kind.retention_days is None
            else [f"{kind.retention_days:g} days", size(kind.retention_bytes)]
        )
        row = (plain(kind.objects), size(kind.size_bytes), size(kind.trash_bytes), *retention)
        shown.add_row(plain(kind.label), *row)
    free = "" if storage.free_bytes is None else f", {size(storage.free_bytes)} free on the disk"
    session.show(
        storage,
        shown,
        f"{size(storage.total_bytes)} in all{free}; the trash keeps {storage.trash_days:g} days",
    )


@service_command(projects, "list")
def list_projects(session: ServiceConnection) -> None:
    """List the projects with the number of their objects.

    Example: `rankery projects list`
    """
    document = session.client.request("GET", "/v1/projects").json()
    unassigned = document.get("unassigned")
    rows = [*document["items"], *([{"name": "(none)", **unassigned}] if unassigned else [])]
    kinds = [kind for kind in (rows[0] if rows else {}) if kind != "name"]
    shown = table("project", *kinds, right=kinds)
    for row in rows:
        shown.add_row(plain(row["name"]), *(plain(row[kind]) for kind in kinds))
    session.show(document, shown)
