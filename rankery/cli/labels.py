"""`label` and `describe` of models, jobs and datasets: tags, names, texts and projects."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rankery.cli.bulk import Ids, confirm, selection, with_filters
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED, WrongUsage
from rankery.cli.options import DryRun, RemoveTags, SetTags, Yes
from rankery.cli.printing import facts, plain, say, table
from rankery.cli.texts import tags_of

if TYPE_CHECKING:
    from rankery.client.views.lifecycle import LabelledView

Text = Annotated[str | None, typer.Option("--text", help='The description or the notes; "" for none.')]
Project = Annotated[str | None, typer.Option("--project", help='Project of the object; "" for none.')]


def add_label(group: typer.Typer, noun: Literal["jobs", "models"], *examples: str) -> None:
    """Add `rankery NOUN label` to the commands of a noun.

    Args:
        noun: Noun for the objects, for messages and help.
        *examples: Arguments of the command, for its help.
    """

    def label(
        session: ServiceConnection,
        ids: Ids = None,
        set: SetTags = None,
        remove: RemoveTags = None,
        to_project: Annotated[
            str | None, typer.Option(help='Project to move the objects to; "" for none.', metavar="PROJECT")
        ] = None,
        dry_run: DryRun = False,
        yes: Yes = False,
        **filters: Any,
    ) -> None:
        chosen = selection(noun, ids, filters)
        tags = _tag_changes(set, remove)
        project_change: Any = {} if to_project is None else {"project": to_project or None}

        def run(*, dry_run: bool) -> "LabelledView":
            return session.client.label(noun, **chosen, tags=tags or None, **project_change, dry_run=dry_run)

        if tags or project_change:
            needs_confirmation = "where" in chosen and not dry_run and not yes
            if needs_confirmation and (preview := run(dry_run=True)).changed:
                confirm(session, [facts(_summary_rows(preview))], "Label them?")
            labelled = run(dry_run=dry_run)
            session.show(labelled, facts(_summary_rows(labelled)))
            if labelled.refused_count or labelled.missing:
                raise typer.Exit(FAILED)
        elif ids and len(ids) == 1:
            _show_tags(session, noun, ids[0])
        else:
            raise WrongUsage("give --set, --remove or --to-project; or one id to see its tags")

    label.__doc__ = "\n\n".join(
        [
            f"Change tags and the project of {noun}; other tags stay. Without changes, show the tags of one.",
            "With a filter, a preview and a confirmation come first. The results of a job move to the project"
            " with it; all versions of a model name move together. The exit code is 1 if an id does not"
            " exist, or if an object would have too many tags.",
            *(f"Example: `rankery {noun} label {example}`" for example in examples),
        ]
    )
    group.command("label")(with_filters(label, noun))


def describe_object(session: ServiceConnection, kind: str, reference: str, **fields: str | None) -> None:
    """Show fields of an object, or change the given fields; an empty text clears a field.

    Args:
        kind: Collection of the object, such as `models`.
        **fields: New texts by field; None leaves a field unchanged.
    """
    path = _path(kind, reference)
    body = {field: text or None for field, text in fields.items() if text is not None}
    if body:
        answer = session.client.request("PATCH", path, json=body).json()
        say(f"changed {answer['id']}")
    else:
        answer = session.client.request("GET", path).json()
    session.show(answer, facts((name.replace("_", " "), answer.get(name)) for name in ("id", *fields)))


def _show_tags(session: ServiceConnection, kind: str, reference: str) -> None:
    tags = session.client.request("GET", _path(kind, reference)).json()["tags"]
    shown = table("tag", "value", wrap=("value",))
    for name, value in tags.items():
        shown.add_row(plain(name), plain(value))
    session.show(tags, shown)


def _path(kind: str, reference: str) -> str:
    from rankery.client.references import escaped_path_segment

    return f"/v1/{kind}/{escaped_path_segment(reference)}"


def _summary_rows(labelled: "LabelledView") -> list[tuple[str, Any]]:
    return [
        ("would change" if labelled.dry_run else "changed", labelled.changed),
        ("unchanged", labelled.unchanged),
        ("moved model names", ", ".join(labelled.moved_names) or None),
        ("not found", ", ".join(labelled.missing) or None),
        *((one.id, one.reason) for one in labelled.refused),
    ]


def _tag_changes(set: list[str] | None, remove: list[str] | None) -> dict[str, str | None]:
    values = tags_of(set, "--set")
    if both := sorted(values.keys() & {*(remove or [])}):
        raise WrongUsage(f"{both[0]} is both set and removed")
    return {**values, **dict.fromkeys(remove or [])}
