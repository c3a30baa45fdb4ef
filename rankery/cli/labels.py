"""`rankery tags`, `label`, `describe` and `projects`: what people say of models, jobs and datasets."""

from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

import typer

from rankery.cli.completion import of_service
from rankery.cli.confirmation import Yes, confirm
from rankery.cli.connection import ServiceConnection
from rankery.cli.endings import FAILED, WrongUsage
from rankery.cli.filters import (
    CreatedBefore,
    Everything,
    Ids,
    OfJobKind,
    OfName,
    OfProject,
    OfStatus,
    OlderThan,
    OnDataset,
    WithTag,
    selection,
)
from rankery.cli.printing import facts, plain, say, table
from rankery.cli.references import dataset_of
from rankery.cli.service_options import on_service
from rankery.cli.texts import assigned

if TYPE_CHECKING:
    from rankery.client.views.lifecycle import LabelledView

_JOB, _DATASET = "job_", "ds_"
Labelled = Annotated[
    str,
    typer.Argument(
        help="A model (id, name, name:version or name@alias) or a job, job_…",
        autocompletion=of_service("models"),
    ),
]


@on_service
def tags(
    session: ServiceConnection,
    thing: Labelled,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A tag to set; may be repeated.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A tag to remove; may be repeated.")
    ] = None,
) -> None:
    """Show the tags of a model or a job, or change some of them; all others stay.

    Example: `rankery tags web:3 --set team=search --remove draft`
    """
    changes = _tag_changes(set, remove)
    path = _path(thing)
    found = _changed(session, path, {"tags": changes}) if changes else _shown(session, path)
    shown = table("tag", "value", wrap=("value",))
    for name, value in found["tags"].items():
        shown.add_row(plain(name), plain(value))
    session.show(found["tags"], shown)


@on_service
def describe(
    session: ServiceConnection,
    thing: Annotated[
        str,
        typer.Argument(
            help="A model (id, name, name:version or name@alias), a job, job_…, or a dataset, ds_…; with"
            " --dataset a dataset's name.",
            autocompletion=of_service("models"),
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help='What it is called; of a version, its display name; "" for none.')
    ] = None,
    text: Annotated[
        str | None, typer.Option(help='The description of a model, or the notes of a job; "" for none.')
    ] = None,
    project: Annotated[str | None, typer.Option(help='The project that it belongs to; "" for none.')] = None,
    dataset: Annotated[bool, typer.Option("--dataset", help="THING is the name of a dataset.")] = False,
) -> None:
    """Show or change the name, the description and the project of a model, a job or a dataset.

    The project of a model is that of its name, with all versions.

    Example: `rankery describe web:3 --text "Trained on the clicks of May" --project search`
    """
    path = f"/v1/datasets/{dataset_of(session, thing).id}" if dataset else _path(thing)
    named, described = _FIELDS[path.split("/")[2]]
    if text is not None and described is None:
        raise WrongUsage("a dataset has a name and a project, and no text")
    given = {named: name, described: text, "project": project}
    body = {key: value or None for key, value in given.items() if key and value is not None}
    found = _changed(session, path, body) if body else _shown(session, path)
    words = [(key.replace("_", " "), found.get(key)) for key in ("id", named, described, "project") if key]
    session.show(found, facts(words))


@on_service
def label(
    session: ServiceConnection,
    kind: Annotated[Literal["jobs", "models"], typer.Argument(help="What to label.")],
    ids: Ids = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A tag to set; may be repeated.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A tag to remove; may be repeated.")
    ] = None,
    to_project: Annotated[
        str | None, typer.Option(help='The project that they move to; "" for none.', metavar="PROJECT")
    ] = None,
    older_than: OlderThan = None,
    created_before: CreatedBefore = None,
    status: OfStatus = None,
    job_kind: OfJobKind = None,
    name: OfName = None,
    dataset: OnDataset = None,
    tag: WithTag = None,
    project: OfProject = None,
    everything: Everything = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Yes = False,
) -> None:
    """Change tags and the project of many jobs or models; other tags stay.

    With a filter a preview and a question come first. The results of a job move with it to another project,
    and all versions of a model's name together. The exit code is 1 where an id does not exist, or an object
    would have too many tags.

    Example: `rankery label jobs --project - --job-kind train --to-project search --dry-run`

    Example: `rankery label models web:3 shop:1 --set team=search --remove draft`
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
        project=project,
        dataset=dataset,
    )
    changes = _tag_changes(set, remove)
    moved: Any = {} if to_project is None else {"project": to_project or None}
    if not changes and not moved:
        raise WrongUsage("give --set, --remove or --to-project")

    def run(*, dry_run: bool) -> "LabelledView":
        return session.client.label(kind, **asked, tags=changes or None, **moved, dry_run=dry_run)

    asks = "where" in asked and not dry_run and not yes
    if asks and (preview := run(dry_run=True)).changed:
        confirm(session, [facts(_labelled(preview))], "Label them?")
    found = run(dry_run=dry_run)
    session.show(found, facts(_labelled(found)))
    if found.refused_count or found.missing:
        raise typer.Exit(FAILED)


def _labelled(found: "LabelledView") -> list[tuple[str, Any]]:
    return [
        ("would change" if found.dry_run else "changed", found.changed),
        ("unchanged", found.unchanged),
        ("names that move", ", ".join(found.moved_names) or None),
        ("not found", ", ".join(found.missing) or None),
        *((one.id, one.reason) for one in found.refused),
    ]


@on_service
def projects(session: ServiceConnection) -> None:
    """List the projects with how much is in each.

    Example: `rankery projects`
    """
    document = session.client.request("GET", "/v1/projects").json()
    unassigned = document.get("unassigned")
    rows = [*document["items"], *([{"name": "(none)", **unassigned}] if unassigned else [])]
    kinds = [kind for kind in (rows[0] if rows else {}) if kind != "name"]
    shown = table("project", *kinds, right=kinds)
    for row in rows:
        shown.add_row(plain(row["name"]), *(plain(row[kind]) for kind in kinds))
    session.show(document, shown)


# By the kind in the path: the fields of the name and of the text.
_FIELDS: dict[str, tuple[str, str | None]] = {
    "models": ("title", "description"),
    "jobs": ("name", "notes"),
    "datasets": ("name", None),
}


def _tag_changes(set: list[str] | None, remove: list[str] | None) -> dict[str, str | None]:
    values = assigned(set, "--set")
    if both := sorted(values.keys() & {*(remove or [])}):
        raise WrongUsage(f"{both[0]} is both set and removed")
    return {**values, **dict.fromkeys(remove or [])}


def _path(thing: str) -> str:
    kind = "jobs" if thing.startswith(_JOB) else "datasets" if thing.startswith(_DATASET) else "models"
    return f"/v1/{kind}/{quote(thing, safe='')}"


def _shown(session: ServiceConnection, path: str) -> dict[str, Any]:
    found: dict[str, Any] = session.client.request("GET", path).json()
    return found


def _changed(session: ServiceConnection, path: str, body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = session.client.request("PATCH", path, json=body).json()
    say(f"changed {found['id']}")
    return found
