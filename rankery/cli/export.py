"""`rankery export`: a model for another engine, with the proof."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from rankery.cli.completion import completed, of_service
from rankery.cli.names import EXPORT_FORMATS
from rankery.cli.printing import plain, say, table
from rankery.cli.references import dataset_of
from rankery.cli.service_options import on_service
from rankery.cli.session import Session
from rankery.cli.texts import NotUnderstood

if TYPE_CHECKING:
    from rankery.client.schemas.answers import ExportParity


@on_service
def export(
    session: Session,
    model: Annotated[
        str | None,
        typer.Argument(
            help="The model: id, name (its latest version), name:version or name@alias.",
            autocompletion=of_service("models"),
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="What to write it as; --list tells the formats.",
            autocompletion=completed(EXPORT_FORMATS),
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", dir_okay=False, help="The file; it appears when it is complete."),
    ] = None,
    archive: Annotated[
        bool,
        typer.Option(
            "--archive", help="A zip: with the file how to load it, the proof, and golden vectors to replay."
        ),
    ] = False,
    target_version: Annotated[
        str | None, typer.Option(help="The engine's version, such as 9.6.", show_default="the newest")
    ] = None,
    model_name: Annotated[
        str | None, typer.Option(help="Its name in the engine.", show_default="name and version")
    ] = None,
    feature_set: Annotated[
        str | None,
        typer.Option(help="Feature set of Elasticsearch or OpenSearch, feature store of Solr."),
    ] = None,
    feature_names: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            readable=True,
            help='JSON: what the engine calls a feature, by the model\'s name of it: {"f1": "bm25(title)"}.',
        ),
    ] = None,
    score_shift: Annotated[
        bool,
        typer.Option("--score-shift", help="Raise all scores so that none is below 0, as Lucene demands."),
    ] = False,
    never_missing: Annotated[
        bool, typer.Option("--never-missing", help="Every document has every feature.")
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Documents to prove it over: a dataset's id or name.",
            show_default="the model's own",
            autocompletion=of_service("datasets"),
        ),
    ] = None,
    list_formats: Annotated[bool, typer.Option("--list", help="List the formats and their options.")] = False,
) -> None:
    """Write a model as another engine reads it, and say whether it decides the same there.

    What was written is read back and evaluated in the engine's own arithmetic, over documents and right
    beside every threshold.

    Example: `rankery export web@champion --format solr --score-shift -o web.json`
    """
    if list_formats:
        _show_formats(session)
        return
    if model is None or format is None or output is None:
        raise typer.BadParameter("give MODEL, --format and --output; --list tells the formats")
    names = None if feature_names is None else _names(feature_names)
    judged = None if dataset is None else dataset_of(session, dataset)
    options: dict[str, Any] = {
        "target_version": target_version,
        "score_shift": score_shift or None,
        "never_missing": never_missing or None,
        "feature_names": names,
    }
    session.client.export(
        model, format, output, archive=archive, model_name=model_name, feature_set=feature_set, **options
    )
    parity = session.client.parity(model, format, dataset=judged, **options)
    say(f"wrote {parity.model.name}:{parity.model.version} to {output}")
    document = {"file": str(output), "bytes": output.stat().st_size, "parity": parity}
    session.show(document, *_proof(parity))


def _show_formats(session: Session) -> None:
    formats = session.client.request("GET", "/v1/export-formats").json()["items"]
    shown = table(
        "format", "read by", "options", "cannot express", wrap=("read by", "options", "cannot express")
    )
    for one in formats:
        options = ", ".join(f"--{option.replace('_', '-')}" for option in one["options"])
        shown.add_row(one["name"], plain(one["reader"]), options, plain("; ".join(one["limits"])))
    session.show(formats, shown)


def _proof(parity: "ExportParity") -> list[RenderableType]:
    numbers = ("documents", "other leaves", "swapped pairs", "largest difference", "other decisions")
    shown = table("engine", *numbers, right=numbers, wrap=("engine", "other decisions"))
    for engine in parity.engines:
        data, neighbours = engine.data, engine.neighbours
        measured = (
            ("", "", "", "")
            if data is None
            else (
                plain(data.documents),
                plain(data.differing_leaves),
                plain(data.swapped_pairs),
                f"{data.largest_score_difference:.2g}",
            )
        )
        decisions = f"{neighbours.differing_decisions:,} of {neighbours.decisions:,}"
        shown.add_row(plain(engine.engine), *measured, decisions)
    verdict = (
        "Every decision is LightGBM's." if parity.exact else "Some decisions are not LightGBM's, see below."
    )
    return [f"[bold]{verdict}[/bold]", shown, *(f"- {plain(note)}" for note in parity.notes)]


def _names(path: Path) -> dict[str, str]:
    try:
        names = json.loads(path.read_bytes())
    except ValueError as error:
        raise NotUnderstood(f"{path.name} is no JSON: {error}") from None
    if not isinstance(names, dict):
        raise NotUnderstood(f'{path.name} must hold an object such as {{"f1": "bm25(title)"}}')
    return names
