"""`rankery mlflow`: export and import of models as MLflow model directories."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.models import Reference, model_facts
from rankery.cli.printing import facts, say
from rankery.cli.service_options import on_service
from rankery.cli.texts import tags_of

mlflow = typer.Typer(
    help="Exchange models with MLflow; needs `pip install 'rankery[mlflow]'`.", no_args_is_help=True
)


@mlflow.command("export")
@on_service
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


@mlflow.command("import")
@on_service
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
