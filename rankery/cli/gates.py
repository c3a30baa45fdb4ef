"""`rankery gates`: promotion gates, the checks of a version before an alias moves to it."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.options import ColumnsOption, LabelMapOption, Limit, columns_of, label_map_of
from rankery.cli.printing import facts, moment, plain, say, table
from rankery.cli.references import dataset_or_upload, refuse_unused_columns
from rankery.cli.service_options import service_command
from rankery.cli.texts import json_object

if TYPE_CHECKING:
    from rankery.client.schemas.answers import CounterfactualRule, Gate
    from rankery.client.schemas.requests import Contract, GateRequest

gates = typer.Typer(help="List, set and delete promotion gates of aliases.", no_args_is_help=True)

GuardedAlias = Annotated[
    str,
    typer.Argument(
        metavar="NAME@ALIAS",
        help="Model name and alias, such as web@champion.",
        autocompletion=complete_from_service("aliases"),
    ),
]


@service_command(gates, "list")
def list_gates(
    session: ServiceConnection,
    name: Annotated[
        str | None,
        typer.Option(
            help="Show only gates of this model.", autocompletion=complete_from_service("model names")
        ),
    ] = None,
    limit: Limit = 100,
) -> None:
    """List the gates of all aliases, or of the aliases of one model.

    Example: `rankery gates list --name web`
    """
    gates = list(islice(session.client.gates(name), limit))
    shown = table("alias", "require", "metric", "dataset", "p", "segment drop", "updated", wrap=("dataset",))
    for gate in gates:
        shown.add_row(
            plain(f"{gate.name}@{gate.alias}"),
            *(plain(gate.summary()[column]) for column in ("require", "metric", "dataset", "p")),
            "any" if gate.max_slice_drop is None else f"at most {gate.max_slice_drop:g}",
            moment(gate.updated_at),
        )
    session.show(gates, shown)


@service_command(gates, "show")
def show_gate(session: ServiceConnection, reference: GuardedAlias) -> None:
    """Show the gate of an alias, the checks of a version before the alias moves to it.

    Example: `rankery gates show web@champion`
    """
    gate = session.client.gate(*_name_and_alias(reference))
    session.show(gate, facts((key.replace("_", " "), value) for key, value in _properties(gate).items()))


@service_command(gates, "set")
def set_gate(
    session: ServiceConnection,
    reference: GuardedAlias,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Dataset on which versions are compared: its id or name, or a judged file.",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric to compare on the dataset.", show_default="ndcg@10")
    ] = None,
    interleaving: Annotated[
        Literal["better", "not_worse"] | None,
        typer.Option(
            help="Require an interleaving in which users prefer the new version (better), or do not prefer"
            " the current one (not_worse); with or without --dataset."
        ),
    ] = None,
    counterfactual: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="Require an estimate from a click log: click_log_id, dataset_id and optionally metric,"
            " estimator, clip, margin.",
        ),
    ] = None,
    require: Annotated[
        Literal["better", "not_worse"],
        typer.Option(
            help="Require a version significantly better, or not significantly worse, than the current one."
        ),
    ] = "not_worse",
    p: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="p-value below which a difference is significant.", show_default="0.05"
        ),
    ] = None,
    max_segment_drop: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Largest drop of the metric allowed in a segment of the queries.",
            show_default="any amount",
        ),
    ] = None,
    min_segment_queries: Annotated[
        int | None, typer.Option(min=1, help="Check only segments with at least this many queries.")
    ] = None,
    better_than_baselines: Annotated[
        bool,
        typer.Option(
            "--better-than-baselines",
            help="Also require a version significantly better than a random order, the input order and the"
            " best single feature.",
        ),
    ] = False,
    preset: Annotated[str | None, typer.Option(help="Metric conventions, such as trec_eval.")] = None,
    columns: ColumnsOption = None,
    label_map: LabelMapOption = None,
) -> None:
    """Set the gate of an alias, replacing an existing one.

    Example: `rankery gates set web@champion --dataset test.txt --metric ndcg@10 --require better`
    """
    name, alias = _name_and_alias(reference)
    chosen = columns_of(columns)
    if dataset is None and interleaving is None and counterfactual is None:
        raise WrongUsage("give --dataset, --interleaving or --counterfactual")
    if dataset is not None:
        refuse_unused_columns(chosen, dataset)
        metric = metric or "ndcg@10"
    estimation = None if counterfactual is None else json_object(counterfactual, "--counterfactual")
    given = {
        "dataset_id": None if dataset is None else dataset_or_upload(session, dataset, chosen).id,
        "metric": metric,
        "interleaving": interleaving,
        "counterfactual": estimation,
        "require": require,
        "p": p,
        "max_slice_drop": max_segment_drop,
        "min_slice_queries": min_segment_queries,
        "better_than_baselines": better_than_baselines,
        "contract": cast("Contract | None", preset),
        "label_map": label_map_of(label_map),
    }
    rule = {key: value for key, value in given.items() if value is not None}
    gate = session.client.set_gate(name, alias, cast("GateRequest", rule))
    also = ", and better than baselines" if better_than_baselines else ""
    rules = [] if dataset is None else [f"are {require.replace('_', ' ')} by {metric}{also}"]
    if max_segment_drop is not None:
        rules.append(f"fall by at most {max_segment_drop:g} in each segment")
    if interleaving is not None:
        rules.append(f"are {interleaving.replace('_', ' ')} by an interleaving")
    if counterfactual is not None:
        rules.append("pass an estimate from clicks")
    say(f"{name}@{alias} moves only to versions that {' and '.join(rules)}")
    session.show(gate)


@service_command(gates, "delete")
def delete_gate(session: ServiceConnection, reference: GuardedAlias) -> None:
    """Delete the gate of an alias; the alias then moves without checks.

    Example: `rankery gates delete web@champion`
    """
    name, alias = _name_and_alias(reference)
    session.client.remove_gate(name, alias)
    say(f"{name}@{alias} no longer has a gate")
    session.show({"name": name, "alias": alias, "gate": None})


def _name_and_alias(reference: str) -> tuple[str, str]:
    name, at, alias = reference.partition("@")
    if not name or not at or not alias:
        raise WrongUsage(f"write an alias as NAME@ALIAS, such as web@champion, not {reference!r}")
    return name, alias


def _estimate(rule: "CounterfactualRule") -> str:
    return f"{rule.metric} by {rule.estimator} on {rule.click_log_id}, margin {rule.margin:g}"


def _properties(gate: "Gate") -> dict[str, Any]:
    on_dataset = {
        "require": gate.require.replace("_", " "),
        "metric": gate.metric,
        "dataset": gate.dataset_id,
        "p": gate.p,
        "largest drop of a segment": gate.max_slice_drop,
        "fewest queries of a checked segment": gate.min_slice_queries,
        "better than baselines": gate.better_than_baselines,
    }
    return {
        "alias": f"{gate.name}@{gate.alias}",
        **(on_dataset if gate.dataset_id else {}),
        "interleaving": gate.interleaving and gate.interleaving.replace("_", " "),
        "estimate from clicks": gate.counterfactual and _estimate(gate.counterfactual),
        "conventions": getattr(gate.contract, "preset", None),
        "label map": gate.label_map or None,
        "updated": f"{moment(gate.updated_at)} UTC",
        "by key": gate.key_id,
    }
