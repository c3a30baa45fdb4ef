"""`rankery export` and `rankery mlflow`: export models to other engines, and MLflow directories."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

from rankery.cli.completion import complete_from, complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.models import Reference, model_facts
from rankery.cli.names import EXPORT_FORMATS
from rankery.cli.options import file_option
from rankery.cli.printing import facts, plain, say
from rankery.cli.references import dataset_of
from rankery.cli.service_options import on_service, service_command
from rankery.cli.texts import object_of_file, tags_of

if TYPE_CHECKING:
    from rankery.client.schemas.answers import EngineParity, ExportParity


_EXAMPLE_OF_NAMES = '{"f1": "bm25(title)"}'


@on_service
def export(
    session: ServiceConnection,
    model: Annotated[
        str | None,
        typer.Argument(
            help="The model: id, name (its latest version), name:version or name@alias.",
            autocompletion=complete_from_service("models"),
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="Format to write; --list shows the formats.",
            autocompletion=complete_from(EXPORT_FORMATS),
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", dir_okay=False, help="File to write; it appears when it is complete."),
    ] = None,
    archive: Annotated[
        bool,
        typer.Option(
            "--archive", help="Write a ZIP with loading instructions, parity report and golden vectors."
        ),
    ] = False,
    target_version: Annotated[
        str | None, typer.Option(help="The engine's version, such as 9.6.", show_default="the newest")
    ] = None,
    model_name: Annotated[
        str | None, typer.Option(help="Name of the model in the engine.", show_default="name and version")
    ] = None,
    feature_set: Annotated[
        str | None,
        typer.Option(help="Feature set of Elasticsearch or OpenSearch, feature store of Solr."),
    ] = None,
    feature_names: Annotated[
        Path | None,
        file_option(
            'JSON that maps feature names of the model to those of the engine: {"f1": "bm25(title)"}.',
        ),
    ] = None,
    score_shift: Annotated[
        bool,
        typer.Option("--score-shift", help="Shift all scores so that none is below 0, as Lucene requires."),
    ] = False,
    never_missing: Annotated[
        bool, typer.Option("--never-missing", help="Assume that every document has every feature.")
    ] = False,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Documents on which scores are compared: a dataset's id or name.",
            show_default="the model's own",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = None,
    list_formats: Annotated[bool, typer.Option("--list", help="List the formats and their options.")] = False,
    scorer: Annotated[
        str, typer.Option(help="Kind of model whose formats --list shows: trees, linear, mlp or sum.")
    ] = "trees",
) -> None:
    """Write a model in the format of another engine, and verify that its scores are the same there.

    The written file is read back and evaluated with the arithmetic of the engine, on documents and on both
    sides of every threshold. Linear scorers, networks and sums are evaluated on generated edge cases.

    Example: `rankery export web@champion --format solr --score-shift -o web.json`
    """
    if list_formats:
        _show_formats(session, scorer)
        return
    if model is None or format is None or output is None:
        raise WrongUsage("give MODEL, --format and --output; --list shows the formats")
    names = None if feature_names is None else object_of_file(feature_names, _EXAMPLE_OF_NAMES)
    dataset_id = None if dataset is None else dataset_of(session, dataset)
    options: dict[str, Any] = {
        "target_version": target_version,
        "model_name": model_name,
        "feature_set": feature_set,
        "score_shift": score_shift or None,
        "never_missing": never_missing or None,
        "feature_names": names,
    }
    options = {name: value for name, value in options.items() if value is not None}
    session.client.export(model, format, output, archive=archive, **options)
    parity = session.client.parity(model, format, dataset=dataset_id, **options)
    say(f"wrote {parity.model.name}:{parity.model.version} to {output}")
    document = {"file": str(output), "bytes": output.stat().st_size, "parity": parity}
    session.show(document, *_parity_report(parity))


def _show_formats(session: ServiceConnection, scorer: str) -> None:
    formats = session.client.request("GET", "/v1/export-formats", parameters={"scorer": scorer}).json()[
        "items"
    ]
    shown = Table.grid(padding=(0, 2, 1, 0))
    shown.add_column(style="bold", no_wrap=True)
    shown.add_column(overflow="fold")
    for one in formats:
        options = ", ".join(f"--{option.replace('_', '-')}" for option in one["options"])
        lines = [one["summary"], options, *(f"not: {limit}" for limit in one["limits"])]
        shown.add_row(one["name"], "\n".join(plain(line) for line in lines if line))
    session.show(formats, shown)


def _parity_report(parity: "ExportParity") -> Iterator[RenderableType]:
    if parity.scorer != "trees":
        exact, inexact = (
            "Every score equals the model's, up to rounding.",
            "Some scores differ from the model's.",
        )
    else:
        exact, inexact = "Every decision equals LightGBM's.", "Some decisions differ from LightGBM's."
    verdict = exact if parity.exact else inexact
    yield f"[bold]{verdict}[/bold]"
    for engine in parity.engines:
        yield ""
        yield facts(_engine_facts(engine))
    for note in parity.notes:
        yield f"- {plain(note)}"


def _engine_facts(engine: "EngineParity") -> Iterator[tuple[str, Any]]:
    yield "engine", engine.engine
    if engine.data is not None:
        data = engine.data
        yield "documents", f"{data.documents:,} of {data.queries:,} queries"
        if engine.edge_cases is None:
            yield "differing leaves", f"{data.differing_leaves:,} of {data.leaves:,}"
        else:
            yield "differing scores", f"{data.differing_documents:,} of {data.documents:,} beyond rounding"
        yield "swapped neighbours", f"{data.swapped_pairs:,} of {data.adjacent_pairs:,}"
        yield "largest difference", f"{data.largest_score_difference:.2g}"
    if engine.edge_cases is not None:
        edges = engine.edge_cases
        yield "edge cases", f"{edges.differing_documents:,} of {edges.documents:,} beyond rounding"
    near = engine.neighbours
    if near.decisions or engine.edge_cases is None:
        yield "differing decisions", f"{near.differing_decisions:,} of {near.decisions:,} near thresholds"


mlflow = typer.Typer(
    help="Exchange models with MLflow; needs `pip install 'rankery[mlflow]'`.", no_args_is_help=True
)


@service_command(mlflow, "export")
def export_model(
    session: ServiceConnection,
    model: Reference,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Directory to create; it must not exist.",
            show_default="NAME-VERSION-mlflow",
        ),
    ] = None,
) -> None:
    """Write a model as an MLflow model directory that returns the same scores as the service.

    The loaded model (python_function) takes a data frame with the feature columns, categories as texts and
    NaN for missing values, and returns one score for each row. Signature, input example, requirements,
    metrics, parameters and tags are in the directory. Scores are compared with those of the service before
    the directory appears.

    Example: `rankery mlflow export web@champion --output web-mlflow`
    """
    from rankery.mlflow.package import import_mlflow

    import_mlflow()
    from rankery.mlflow.exporting import export_model as export

    stored = session.client.model(model)
    exported = export(session.client, stored.id, output or Path(f"{stored.name}-{stored.version}-mlflow"))
    vectors = exported.golden_vectors
    say(f"wrote {exported.model} to {exported.path}; {vectors} documents have the scores of the service")
    session.show(
        asdict(exported),
        facts(
            [
                ("directory", exported.path),
                ("model", exported.model),
                ("requirements", ", ".join(exported.requirements)),
                ("load with", f'mlflow.pyfunc.load_model("{exported.path}").predict(frame)'),
            ]
        ),
    )


@service_command(mlflow, "import")
def import_model(
    session: ServiceConnection,
    folder: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="The MLflow model directory, with MLmodel.")
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="Model name; the import becomes its next version.",
            show_default="the name in an export of Rankery",
            autocompletion=complete_from_service("model names"),
        ),
    ] = None,
    description: Annotated[
        str | None, typer.Option(help="Description of the version, instead of its metrics and parameters.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Tag of the version; may be repeated.")
    ] = None,
) -> None:
    """Register the model of an MLflow directory: a LightGBM booster or an export of `rankery mlflow export`.

    Without --description, its metrics and parameters become the description. Its tags become tags of the
    version. No code of the directory is run.

    Example: `rankery mlflow import web-mlflow --name web --tag team=search`
    """
    from rankery.mlflow.importing import find_model

    exported = find_model(folder)
    model_name = name or exported.name
    if model_name is None:
        raise WrongUsage(f"{folder} has no model name; give --name")
    tags = {**exported.tags, **tags_of(tag, "--tag")}
    job = session.client.import_model(
        exported.file,
        model_name,
        description=description or exported.description,
        tags=tags or None,
        progress=False,
    )
    model = session.wait(job).model()
    say(f"{folder} is {model.reference}")
    session.show(model, facts(model_facts(model)))
