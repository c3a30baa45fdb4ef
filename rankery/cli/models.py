"""`rankery models` and `aliases`: model versions, and the aliases that select them."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from rankery.cli.bulk import add_delete
from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED, WrongUsage
from rankery.cli.findings import findings_below, severity_counts
from rankery.cli.labels import Project, Text, add_label, describe_object
from rankery.cli.options import Limit, OfName, OfProject, WithTag
from rankery.cli.printing import age, facts, moment, number, plain, say, table
from rankery.cli.references import dataset_of
from rankery.cli.service_options import service_command
from rankery.cli.texts import tags_of
from rankery.errors import JobFailed

if TYPE_CHECKING:
    from rankery.client import Job, Model

models = typer.Typer(help="List, promote and roll back models.", no_args_is_help=True)
aliases = typer.Typer(help="List aliases and their history.", no_args_is_help=True)

Reference = Annotated[
    str,
    typer.Argument(
        help="The model: id, name (its latest version), name:version or name@alias.",
        autocompletion=complete_from_service("models"),
    ),
]
_Name = Annotated[
    str, typer.Argument(help="The model's name.", autocompletion=complete_from_service("model names"))
]
_OfAlias = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@ALIAS]",
        help="Model name, with or without an alias: web@champion.",
        autocompletion=complete_from_service("aliases"),
    ),
]
_Alias = Annotated[str, typer.Option(help="Name of the alias.")]
_CHAMPION = "champion"
_IMPORTED = "imported"
_SUM = "sum"


@service_command(models, "list")
def list_models(
    session: ServiceConnection,
    name: OfName = None,
    tag: WithTag = None,
    project: OfProject = None,
    limit: Limit = 20,
) -> None:
    """List versions of models, newest first.

    Example: `rankery models list --name web`
    """
    models = list(islice(session.client.models(name, tag=tag, project=project), limit))
    shown = table(
        *("model", "aliases", "kind", "loss", "iterations", "test", "age"),
        right=("iterations", "age"),
        wrap=("aliases", "test"),
    )
    for model in models:
        shown.add_row(
            model.reference,
            ", ".join(model.aliases),
            model.kind,
            model.loss["name"] if model.loss else _IMPORTED if model.source == _IMPORTED else "",
            "" if model.kind == _SUM else plain(model.best_iteration),
            ", ".join(
                filter(None, [_means(dict(islice((model.metrics or {}).items(), 1))), severity_counts(model)])
            ),
            age(model.created_at),
        )
    session.show(models, shown)


@service_command(models, "show")
def show_model(session: ServiceConnection, model: Reference) -> None:
    """Show a version of a model: its lineage, and its metrics on the test data.

    Example: `rankery models show web@champion`
    """
    resource = session.client.model(model)
    session.show(resource, facts(model_facts(resource)), *findings_below(resource))


@service_command(aliases, "list")
def list_aliases(session: ServiceConnection, name: _Name) -> None:
    """List the aliases of a model and the versions that they point at.

    Example: `rankery aliases list web`
    """
    aliases = session.client.aliases(name)
    shown = table("alias", "version", "id", "moved", right=("version",))
    for alias in aliases:
        shown.add_row(alias.alias, str(alias.version), alias.model_id, moment(alias.updated_at))
    session.show(aliases, shown)


@service_command(models, "promote")
def promote(session: ServiceConnection, model: Reference, alias: _Alias = _CHAMPION) -> None:
    """Promote a version: point an alias at it, so that name@alias selects it from then on.

    If the alias has a gate, a job checks the version first; the command waits for the job and prints its
    result. The exit code is 3 if the gate refuses; the JSON then has the reason, with `promoted` false.

    Example: `rankery models promote web:4 --alias champion`
    """
    from rankery.client import Job

    moved = session.client.model(model).set_alias(alias)
    sentence = None
    if isinstance(moved, Job):
        job = _wait_for_promotion(session, moved)
        sentence = str((job.result or {})["sentence"])
        say(sentence)
        moved = session.client.model(job.made("model_id"))
    say(f"{moved.name}@{alias} is {moved.reference}")
    session.show({"promoted": True, "model": moved, "sentence": sentence})


def _wait_for_promotion(session: ServiceConnection, promotion: "Job") -> "Job":
    """Wait for a promotion; with --json, print the reason of a refusal as JSON."""
    try:
        return session.wait(promotion)
    except JobFailed as failed:
        if session.json:
            problem = failed.job.problem
            reason = problem and (problem.detail or problem.title)
            session.show({"promoted": False, "model": None, "sentence": reason})
        raise


@service_command(models, "rollback")
def roll_back(session: ServiceConnection, reference: _OfAlias, alias: _Alias = _CHAMPION) -> None:
    """Roll back the last move of an alias, ignoring its gate; repeat the command to go further back.

    Example: `rankery models rollback web@champion`
    """
    name, alias = _name_and_alias(reference, alias)
    model = session.client.roll_back(name, alias)
    say(f"{name}@{alias} is {name}:{model.version} again")
    session.show(model)


@service_command(aliases, "history")
def show_history(
    session: ServiceConnection, reference: _OfAlias, alias: _Alias = _CHAMPION, limit: Limit = 20
) -> None:
    """List the moves of an alias, newest first, with the results of its gate.

    Example: `rankery aliases history web@champion`
    """
    name, alias = _name_and_alias(reference, alias)
    moves = list(islice(session.client.alias_history(name, alias), limit))
    shown = table("at", "move", "from", "to", "job", "reason", right=("from", "to"), wrap=("reason",))
    for move in moves:
        shown.add_row(
            moment(move.at),
            move.kind.replace("_", " "),
            *("" if version is None else str(version) for version in (move.from_version, move.to_version)),
            move.job_id or "",
            plain((move.report or {}).get("sentence", "")),
        )
    session.show(moves, shown)


def _name_and_alias(reference: str, option: str) -> tuple[str, str]:
    name, at, alias = reference.partition("@")
    if at and option not in (alias, _CHAMPION):
        raise WrongUsage(f"{reference} and --alias {option} are two aliases; give one")
    return name, alias if at else option


@service_command(models, "import")
def import_model(
    session: ServiceConnection,
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, readable=True, help="Model file that LightGBM saved as text."
        ),
    ],
    name: Annotated[str, typer.Option(help="Model name; the import becomes its next version.")],
    description: Annotated[str | None, typer.Option(help="Description of the version.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Tag of the version; may be repeated.")
    ] = None,
) -> None:
    """Import a model that LightGBM trained elsewhere; it is validated first.

    Example: `rankery models import model.txt --name web --tag team=search`
    """
    job = session.client.import_model(file, name, description=description, tags=tags_of(tag, "--tag") or None)
    model = session.wait(job).model()
    say(f"{file.name} is {model.reference}")
    session.show(model, facts(model_facts(model)))


@service_command(models, "download")
def download_model(
    session: ServiceConnection,
    model: Reference,
    file: Annotated[
        Path | None,
        typer.Argument(
            dir_okay=False, help="File to write.", show_default="NAME-VERSION.txt or .safetensors"
        ),
    ] = None,
) -> None:
    """Download a model in its stored format; `rankery export` writes formats of other engines.

    Example: `rankery models download web@champion web.txt`
    """
    resource = session.client.model(model)
    stored, suffix = ("lightgbm", "txt") if resource.kind == "trees" else ("safetensors", "safetensors")
    target = session.client.export(
        resource, stored, file or Path(f"{resource.name}-{resource.version}.{suffix}")
    )
    say(f"wrote {resource.reference} to {target}")
    session.show({"model": resource.id, "path": str(target), "format": stored})


@service_command(models, "describe")
def describe_model(
    session: ServiceConnection,
    model: Reference,
    name: Annotated[str | None, typer.Option(help='Display name of the version; "" for none.')] = None,
    text: Text = None,
    project: Project = None,
) -> None:
    """Show or change the display name and description of a version, and the project of its model name.

    Example: `rankery models describe web:3 --text "Trained on the clicks of May" --project search`
    """
    describe_object(session, "models", model, title=name, description=text, project=project)


add_label(models, "models", "web:3 shop:1 --set team=search --remove draft", "web:3")
add_delete(models, "models", "--name web --older-than 30 --dry-run")


@service_command(models, "reproduce")
def reproduce(session: ServiceConnection, model: Reference) -> None:
    """Train a model again from its lineage; the exit code is 1 if the bytes differ.

    Example: `rankery models reproduce web:3`
    """
    job: Job = session.wait(session.client.reproduce(model))
    outcome = cast("dict[str, Any]", job.result)
    if outcome["equal"]:
        say(f"{model} was reproduced byte for byte: sha256 {outcome['sha256']}")
    else:
        changed = ", ".join(
            f"{one['what']} was {one['then']} and is {one['now']}" for one in outcome["differences"] or ()
        )
        say(f"{model} was not reproduced byte for byte; recorded differences: {changed or 'none'}")
    session.show(outcome)
    if not outcome["equal"]:
        raise typer.Exit(FAILED)


@service_command(models, "distil")
def distil(
    session: ServiceConnection,
    model: Reference,
    name: Annotated[
        str | None,
        typer.Option(help="Model name; the forest becomes its next version.", show_default="NAME-distilled"),
    ] = None,
    leaves: Annotated[
        int | None, typer.Option(help="Maximum number of leaves per tree.", show_default="15")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Number of trees.", show_default="1000")] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Documents that the model scores, judged or not: a dataset's id or name.",
            show_default="the model's own",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="Judged queries on which both models are evaluated: a dataset's id or name.",
            show_default="the model's own, or a fifth of the queries",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = None,
) -> None:
    """Distil a model, such as a sum or a network, into a forest for engines that read only trees.

    The loss in quality is measured on test queries and printed with an interval.

    Example: `rankery models distil web-sum --leaves 31`
    """
    chosen: dict[str, Any] = {
        "model_name": name,
        "leaves": leaves,
        "iterations": iterations,
        "dataset_id": None if dataset is None else dataset_of(session, dataset).id,
        "test_dataset_id": None if test is None else dataset_of(session, test).id,
    }
    given = {option: value for option, value in chosen.items() if value is not None}
    job: Job = session.wait(session.client.distil(model, **given))
    made = job.model()
    say(f"{made.reference} is a forest that was trained on the scores of {model}")
    session.show({"job": job, "model": made}, *findings_below(job))


def _means(metrics: dict[str, Any]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in metrics.items())


def _settings(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)


def model_facts(model: "Model") -> Iterator[tuple[str, Any]]:
    """Return the properties of a model as rows of `facts`."""
    yield "model", model.reference
    yield "id", model.id
    yield "aliases", ", ".join(model.aliases) or None
    yield "description", model.description
    yield "tags", ", ".join(f"{name}: {value}" for name, value in model.tags.items()) or None
    yield "source", model.source
    yield "loss", model.loss and _settings({"": model.loss["name"], **model.loss, "name": None}).lstrip()
    yield "kind", model.kind
    if model.kind != _SUM:  # its models and weights are the members
        yield "scorer", model.scorer and _settings({**model.scorer, "kind": None})
    yield "hyperparameters", _settings(model.hyperparameters or {}) or None
    yield from model.sizes().items()
    yield "features", len(model.feature_names)
    yield "test metrics", model.metrics and _means(model.metrics)
    yield "cannot be explained", model.explanation and model.explanation.problem
    yield "job", model.job_id
    yield "dataset", model.dataset_id
    yield "bytes", model.size_bytes
    yield "sha256", f"{model.sha256[:16]}…"
    yield "created", f"{moment(model.created_at)} UTC"
