"""`rankery train`: train a model from a file in one command."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankery.cli import training_options, trainings
from rankery.cli.click_logs import log_of
from rankery.cli.completion import complete_from, complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.declared_options import TRAINING_OPTIONS
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.metric_options import Metrics, Preset
from rankery.cli.names import LOSSES
from rankery.cli.options import ColumnsOption, LabelMapOption, Watch, columns_of, file_option, label_map_of
from rankery.cli.printing import say
from rankery.cli.references import refuse_unused_columns
from rankery.cli.service_options import on_service, with_options
from rankery.cli.texts import grid as values_of_grid
from rankery.cli.texts import settings
from rankery.cli.train_best import (
    BestOption,
    BudgetOption,
    CandidatesOption,
    PreferOption,
    refuse_options,
    train_best,
)
from rankery.cli.training_results import show_grid, show_submitted, show_training
from rankery.grids import points
from rankery.local_files import is_file

if TYPE_CHECKING:
    from rankery.client import Job
    from rankery.client.schemas.requests import RepeatsRequest


class RepeatBy(StrEnum):
    """Source of randomness that differs between repeated trainings."""

    BOOTSTRAP = "bootstrap"
    SEED = "seed"


@on_service
@with_options(TRAINING_OPTIONS)
def train(
    session: ServiceConnection,
    data: Annotated[str | None, training_options.TRAINING_DATA] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="Loss to minimise.",
            autocompletion=complete_from(LOSSES),
            show_default=training_options.DEFAULT_LOSS,
        ),
    ] = None,
    loss_option: training_options.LossOptions = None,
    scorer: training_options.ScorerOption = None,
    hidden: training_options.HiddenOption = None,
    epochs: training_options.EpochsOption = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="LightGBM's hyperparameters: num_leaves=63, learning_rate=0.05,"
            " 'monotone_constraints={\"bm25\": 1}'; or the scorer's: scorer.dropout=0.1.",
        ),
    ] = None,
    auto: Annotated[
        bool | None,
        typer.Option(
            "--auto/--no-auto",
            help="Choose leaves, documents per leaf, learning rate and iterations of trees by the size of the"
            " data, unless --set or --grid gives them. --no-auto uses LightGBM's defaults.",
            show_default="--auto",
        ),
    ] = None,
    use_feature: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Feature to use, leaving out all others; may be repeated."),
    ] = None,
    leave_out_feature: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Feature to leave out; may be repeated.")
    ] = None,
    init_model: Annotated[
        str | None,
        typer.Option(
            help="Model to continue training from; its trees come first.",
            autocompletion=complete_from_service("models"),
        ),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(
            help="Data that select the best iteration: a share of the queries, a judged file, a dataset's id"
            " or name, or none.",
            autocompletion=complete_from_service("datasets"),
            show_default=training_options.HELD_OUT,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=100,
            help="Number of cross-validation folds, instead of --validation; the final model is trained on"
            " all queries.",
        ),
    ] = None,
    fold_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Cross-validate with the folds in this column of the queries."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="Data of the final evaluation: a share, a file or a dataset.",
            autocompletion=complete_from_service("datasets"),
        ),
    ] = None,
    columns: ColumnsOption = None,
    label_map: LabelMapOption = None,
    clicks: Annotated[
        str | None,
        typer.Option(metavar="LOG", help="Click log to learn from, by id or name; DATA has the features."),
    ] = None,
    click_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Option of --clicks: correction=ips, propensity_job=job_…, clip=0.05."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Model name; the training creates its next version.", show_default="the data's name"
        ),
    ] = None,
    metric: Metrics = None,
    preset: Preset = None,
    early_stopping: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="ITERATIONS",
            help="Stop after this many iterations without a better first metric on --validation.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**31 - 1, help="Seed of all random choices.", show_default="42")
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE,VALUE",
            help="Train once for each value, and for each combination if repeated: num_leaves=31,63;"
            " loss=lambdarank,ndcg-loss2++; loss.mu=1,5; scorer.dropout=0,0.1; seed=1,2,3. Write lists in"
            " brackets: loss.gain=[0,1,3],[0,1,7].",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Train this many times, with --seed and the seeds after it; show mean and spread.",
        ),
    ] = None,
    repeat_by: Annotated[
        RepeatBy,
        typer.Option(
            help="Effect of the seeds: train on bootstrap samples of the queries, or change only the seed."
        ),
    ] = RepeatBy.BOOTSTRAP,
    ranks: training_options.RanksOption = None,
    threads_per_rank: training_options.ThreadsPerRankOption = None,
    best: BestOption = False,
    budget: BudgetOption = None,
    prefer: PreferOption = None,
    candidate: CandidatesOption = None,
    from_json: Annotated[Path | None, file_option("JSON of the whole job, as in POST /v1/jobs.")] = None,
    watch: Watch = True,
    **declared: Any,
) -> None:
    """Train a model: upload the data, wait until they are read, train, and print the metrics.

    If no service is running and the data are a local file, the command starts a service and stops it at the
    end.

    A fifth of the queries is held out to select the best iteration, unless --validation is given. With
    --no-watch the job is submitted and its id printed, which needs a running service. All points of a grid
    are validated before the first training starts, and the best model by the validation data is named at the
    end.

    Example: `rankery train train.txt --loss ndcg-loss2++ --test test.txt`

    Example: `rankery train train.txt --validation vali.txt --early-stopping 30 --grid num_leaves=31,63`

    With --folds each query is evaluated by a model that was not trained on it; the final model is trained on
    all queries.

    Example: `rankery train train.txt --folds 5`

    Example: `rankery train train.txt --test test.txt --repeats 5`

    Example: `rankery train train.txt --scorer mlp --hidden 128,64 --epochs 50 --set scorer.dropout=0.1`

    Example: `rankery train train.txt --ranks 2-8 --threads-per-rank 4`

    Example: `rankery train features.csv --clicks May --click-option correction=additive`

    With --best an automatic training tries a portfolio of candidates, and trains a weighted sum of the best.

    Example: `rankery train train.txt --best --budget 10m --metric ndcg@10`
    """
    single_training = {
        "--loss": loss,
        "--loss-option": loss_option,
        "--scorer": scorer,
        "--hidden": hidden,
        "--epochs": epochs,
        "--set": set,
        "--auto": auto,
        "--use-feature": use_feature,
        "--leave-out-feature": leave_out_feature,
        "--init-model": init_model,
        "--validation": validation,
        "--folds": folds,
        "--fold-column": fold_column,
        "--clicks": clicks,
        "--click-option": click_option,
        "--early-stopping": early_stopping,
        "--ranks": ranks,
        "--threads-per-rank": threads_per_rank,
    }
    if best:
        single_training |= {f"--{option.replace('_', '-')}": value for option, value in declared.items()}
        refuse_options(
            single_training | {"--grid": grid, "--repeats": repeats, "--from-json": from_json}, best=True
        )
        train_best(
            session,
            data,
            test=test,
            columns=columns_of(columns),
            label_map=label_map_of(label_map),
            name=name,
            metrics=metric,
            contract=preset,
            budget=budget,
            prefer=prefer,
            candidates=candidate,
            seed=seed,
            watch=watch,
        )
        return
    refuse_options({"--budget": budget, "--prefer": prefer, "--candidate": candidate}, best=False)
    data_options = (data, test, columns, label_map, name, metric, preset, seed)
    options = (*data_options, *single_training.values(), *declared.values())
    if from_json is not None:
        if any(option is not None for option in options):
            raise WrongUsage(
                "--from-json holds the whole job: combine it only with --grid, --repeats and --watch"
            )
        request, sources = trainings.job_of_file(from_json), None
    elif data is not None:
        cross_validation = _cross_validation(folds, fold_column, validation)
        sources = trainings.Sources(
            data,
            None if cross_validation else validation or training_options.HELD_OUT,
            test,
            columns_of(columns),
        )
        refuse_unused_columns(sources.columns, data, validation, test)
        choice = training_options.ScorerChoice.of(scorer, hidden, epochs, settings(set, "--set"))
        distribution = training_options.distribution_of(ranks, threads_per_rank)
        if distribution and (choice.scorer or cross_validation):
            raise WrongUsage("--ranks applies only to trees without folds; leave it out")
        request = {
            "kind": "train",
            "model_name": name or trainings.model_name_of(data),
            "loss": {"name": loss or training_options.DEFAULT_LOSS, **settings(loss_option, "--loss-option")},
            "scorer": choice.scorer,
            "hyperparameters": _auto_hyperparameter(auto, choice) | choice.hyperparameters,
            "validation": cross_validation,
            "init_model": init_model,
            "features": _features(use_feature, leave_out_feature),
            "clicks": _clicks(session, clicks, click_option),
            "label_map": label_map_of(label_map),
            "metrics": metric,
            "contract": preset,
            "early_stopping": trainings.early_stopping_of(early_stopping, metric, validation),
            "seed": seed,
            "distribution": distribution,
            **declared,
        }
    else:
        raise WrongUsage("give DATA, a judged file or a dataset, or --from-json")
    varied = values_of_grid(grid, "--grid")
    if varied:
        request["tags"] = {**(request.get("tags") or {}), "grid": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"}
    requests = list(points(request, varied))
    if watch and sources is not None and is_file(sources.data):
        session.allow_embedded_service()
    trainings.check_losses(session, [one["loss"] for one in requests])
    for one in requests:
        trainings.check_hyperparameters(session, one.get("hyperparameters") or {}, one.get("scorer"))
    repetition: RepeatsRequest | None = None
    if repeats is not None:
        repetition = {"count": repeats, "by": repeat_by.value}
    jobs = _submit(session, requests, sources, repetition)
    _show_results(session, jobs, list(varied), watch=watch, repeated=repetition is not None)


def _auto_hyperparameter(auto: bool | None, choice: training_options.ScorerChoice) -> dict[str, Any]:
    if choice.scorer is None:
        return {} if auto is False else {"auto": True}
    if auto:
        raise WrongUsage("--auto applies only to trees; leave it out for other scorers")
    return {}


def _cross_validation(folds: int | None, column: str | None, validation: str | None) -> dict[str, Any] | None:
    given = {"folds": folds, "fold_column": column}
    chosen = {name: value for name, value in given.items() if value is not None}
    if len(chosen) + (validation is not None) > 1:
        raise WrongUsage("--validation, --folds and --fold-column exclude each other")
    return chosen or None


def _clicks(session: ServiceConnection, log: str | None, options: list[str] | None) -> dict[str, Any] | None:
    chosen = settings(options, "--click-option")
    return {**({"log": log_of(session, log).id} if log else {}), **chosen} or None


def _features(use: list[str] | None, leave_out: list[str] | None) -> dict[str, list[str]] | None:
    if use and leave_out:
        raise WrongUsage("--use-feature and --leave-out-feature exclude each other")
    selection = {"use": use, "leave_out": leave_out}
    return {field: names for field, names in selection.items() if names} or None


def _submit(
    session: ServiceConnection,
    requests: list[dict[str, Any]],
    sources: trainings.Sources | None,
    repeats: "RepeatsRequest | None",
) -> "list[Job]":
    datasets = {} if sources is None else sources.fields(session)
    requests = [
        {name: value for name, value in (one | datasets).items() if value is not None} for one in requests
    ]
    client = session.client
    is_one = len(requests) == 1 and repeats is None
    jobs = [client.submit(requests[0])] if is_one else client.submit_all(requests, repeats=repeats)
    for job in jobs:
        say(f"submitted {job.id}, {job.spec['loss']['name']} for {job.title}")
    return list(jobs)


def _show_results(
    session: ServiceConnection, jobs: "list[Job]", varied: list[str], *, watch: bool, repeated: bool
) -> None:
    if not watch:
        show_submitted(session, jobs)
    elif len(jobs) == 1:
        show_training(session, session.wait(jobs[0]))
    else:
        session.wait_all(jobs)
        show_grid(session, jobs, varied, repeated=repeated)
