"""`rankery delete`, `trash` and `storage`: free what is not needed any more."""

from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import RenderableType

from rankery.cli.confirmation import Yes, confirm
from rankery.cli.connection import ServiceConnection
from rankery.cli.endings import FAILED, WrongUsage
from rankery.cli.filters import (
    CreatedBefore,
    Everything,
    Ids,
    OfJobKind,
    OfModel,
    OfName,
    OfProject,
    OfStatus,
    OlderThan,
    OnDataset,
    WithTag,
    selection,
)
from rankery.cli.options import Limit, Permanently
from rankery.cli.printing import moment, plain, say, size, table
from rankery.cli.service_options import on_service

if TYPE_CHECKING:
    from rankery.client.schemas.answers import Deletion

trash = typer.Typer(
    help="List what was deleted, restore it, or free its bytes at once.", no_args_is_help=True
)


class Kind(StrEnum):
    """What can be deleted."""

    JOBS = "jobs"
    MODELS = "models"
    EVALUATIONS = "evaluations"
    COMPARISONS = "comparisons"
    RANKINGS = "rankings"
    INSPECTIONS = "inspections"
    EXPERIMENTS = "experiments"
    STUDIES = "studies"


@on_service
def delete(
    session: ServiceConnection,
    kind: Annotated[Kind, typer.Argument(help="What to delete.")],
    ids: Ids = None,
    older_than: OlderThan = None,
    created_before: CreatedBefore = None,
    status: OfStatus = None,
    job_kind: OfJobKind = None,
    name: OfName = None,
    model: OfModel = None,
    dataset: OnDataset = None,
    tag: WithTag = None,
    project: OfProject = None,
    everything: Everything = False,
    with_results: Annotated[
        bool, typer.Option("--with-results", help="Delete what they made as well: models, evaluations, …")
    ] = False,
    permanently: Permanently = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    yes: Yes = False,
) -> None:
    """Delete jobs, models, results, experiments and studies; a table and a question come first.

    What an alias, a gate, a study or another object needs is left, with the list of what holds it; then the
    exit code is 1. The rest goes to the trash, from which `rankery trash restore` brings it back.

    Example: `rankery delete models --name web --older-than 30 --dry-run`

    Example: `rankery delete jobs --status failed --older-than 7 --with-results --yes`
    """
    asked = selection(
        ids,
        created_before=created_before,
        tag=tag,
        everything=everything,
        older_than_days=older_than,
        status=status,
        kind=job_kind,
        name=name,
        model_id=model,
        project=project,
        **{"dataset" if kind == Kind.JOBS else "dataset_id": dataset},
    )

    def run(*, dry_run: bool) -> "Deletion":
        return session.client.delete(
            kind.value,
            **asked,
            with_results=with_results,
            permanently=permanently,
            dry_run=dry_run,
        )

    _confirmed(session, run, dry_run=dry_run, yes=yes)


@trash.command("list")
@on_service
def list_trash(
    session: ServiceConnection,
    kind: Annotated[
        Literal[
            "job",
            "model",
            "evaluation",
            "comparison",
            "ranking",
            "inspection",
            "experiment",
            "study",
            "dataset",
        ]
        | None,
        typer.Option(help="Only these."),
    ] = None,
    limit: Limit = 50,
) -> None:
    """List what is in the trash, latest first, with the time at which its bytes are freed.

    Example: `rankery trash list --kind model`
    """
    found = list(islice(session.client.trash(kind), limit))
    shown = table("id", "kind", "name", "bytes", "deleted", "by", "freed", right=("bytes",), wrap=("name",))
    for one in found:
        by = one.deleted_by or ""
        times = (moment(one.deleted_at), plain(by), moment(one.purge_at))
        shown.add_row(one.id, one.kind, plain(one.name), size(one.size_bytes), *times)
    session.show(found, shown)


@trash.command("restore")
@on_service
def restore(session: ServiceConnection, ids: Annotated[list[str], typer.Argument(help="Ids.")]) -> None:
    """Bring objects back from the trash, with what went with them and what they need.

    Example: `rankery trash restore mdl_01k9x3a7d5f8g2h4j6k9`
    """
    found = session.client.restore(*ids)
    say(f"restored {_kinds(found.restored) or 'nothing'}")
    session.show(found, *([f"not in the trash: {plain(', '.join(found.missing))}"] if found.missing else []))
    if found.missing:
        raise typer.Exit(FAILED)


@trash.command("empty")
@on_service
def empty_trash(
    session: ServiceConnection,
    ids: Annotated[list[str] | None, typer.Argument(help="Only these ids.", show_default="all")] = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Only what was deleted so long ago.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    yes: Yes = False,
) -> None:
    """Free the bytes of what is in the trash; nothing brings it back.

    Example: `rankery trash empty --older-than 2`
    """
    if ids and older_than is not None:
        raise WrongUsage("give ids or --older-than, not both")

    def run(*, dry_run: bool) -> "Deletion":
        everything = not ids and older_than is None
        return session.client.empty_trash(
            ids or None, older_than_days=older_than, everything=everything, dry_run=dry_run
        )

    _confirmed(session, run, dry_run=dry_run, yes=yes)


@on_service
def storage(
    session: ServiceConnection,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Measure now; else within the last minute.")
    ] = False,
) -> None:
    """Show the bytes that the service keeps by kind, those in the trash, and what retention would free.

    Example: `rankery storage --refresh`
    """
    found = session.client.storage(refresh=refresh)
    numbers = ("objects", "size", "in the trash", "retention", "it would free")
    shown = table("kind", *numbers, right=numbers)
    for kind in found.kinds:
        kept = (
            []
            if kind.retention_days is None
            else [f"{kind.retention_days:g} days", size(kind.retention_bytes)]
        )
        row = (plain(kind.objects), size(kind.size_bytes), size(kind.trash_bytes), *kept)
        shown.add_row(plain(kind.label), *row)
    free = "" if found.free_bytes is None else f", {size(found.free_bytes)} free on the disk"
    session.show(
        found, shown, f"{size(found.total_bytes)} in all{free}; the trash keeps {found.trash_days:g} days"
    )


def _confirmed(session: ServiceConnection, run: Any, *, dry_run: bool, yes: bool) -> None:
    """Show what would be deleted, ask, and delete it; the exit code is 1 where something was left."""
    done: Deletion = run(dry_run=True)
    if done.deleted and not dry_run:
        if not yes:
            confirm(session, _pictures(done), "Delete them?")
        done = run(dry_run=False)
    session.show(done, *_pictures(done))
    if done.refused_count or done.missing:
        raise typer.Exit(FAILED)


def _pictures(found: "Deletion") -> list[RenderableType]:
    """Return the sentence, and the table of what is left with what holds it."""
    verb = "would delete" if found.dry_run else "deleted"
    if not found.deleted:
        verb = "nothing to delete"
    when = "at once" if found.purge_at is None else f"at {moment(found.purge_at)} UTC"
    freed = f"; {size(found.size_bytes)} are freed {when}" if found.deleted else ""
    shown: list[RenderableType] = [f"{verb} {_kinds(found.deleted)}{freed}".rstrip()]
    if found.missing:
        shown.append(f"not found: {plain(', '.join(found.missing))}")
    if found.refused:
        held = table("left", "name", "needed by", wrap=("needed by",))
        for one in found.refused:
            holders = "; ".join(f"{by.kind} {by.name or by.id} ({by.reason})" for by in one.holders)
            held.add_row(one.id, plain(one.name or ""), plain(holders))
        shown += [
            held,
            "What something else needs stays; --with-results deletes what was made of it as well.",
        ]
        if found.refused_count > len(found.refused):
            shown.append(f"{found.refused_count:,} are left in all")
    return shown


def _kinds(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
