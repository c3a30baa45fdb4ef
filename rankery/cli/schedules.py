"""`rankery schedules`: trainings, studies and drift checks that are queued periodically."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankery.cli.completion import complete_from, complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.datasets import delete_all
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.metric_options import Metrics
from rankery.cli.names import LOSSES
from rankery.cli.options import Limit, file_option
from rankery.cli.printing import facts, moment, plain, say, table
from rankery.cli.references import only_named
from rankery.cli.service_options import service_command
from rankery.cli.texts import object_of_file, settings
from rankery.cli.train_best import BestOption, BudgetOption, automatic_training_fields, refuse_options
from rankery.cli.training_options import DEFAULT_LOSS, HELD_OUT
from rankery.cli.trainings import share_field

if TYPE_CHECKING:
    from rankery.client.synchronous.schedules import Schedule

schedules = typer.Typer(help="Schedule trainings, studies and drift checks.", no_args_is_help=True)

_PREFIX = "sch_"
_TRAINING_PANEL, _OTHER_PANEL = "A training", "Another job instead"
Reference = Annotated[
    str,
    typer.Argument(
        help="The schedule's id, sch_…, or its name.", autocompletion=complete_from_service("schedules")
    ),
]


@service_command(schedules, "list")
def list_schedules(session: ServiceConnection, limit: Limit = 50) -> None:
    """List schedules, newest first, with their next and their last run.

    Example: `rankery schedules list`
    """
    schedules = list(islice(session.client.schedules(), limit))
    shown = table("id", "name", "cron", "next run", "last run", wrap=("name", "last run"))
    for one in schedules:
        next_run = moment(one.next_run_at) if one.enabled else "paused"
        last = "" if one.last_run is None else f"{one.last_run.status} {moment(one.last_run.due_at)}"
        shown.add_row(one.id, plain(one.name), f"{one.cron} {one.timezone}", next_run, last)
    session.show(schedules, shown)


@service_command(schedules, "show")
def show_schedule(session: ServiceConnection, schedule: Reference, limit: Limit = 10) -> None:
    """Show a schedule and its latest runs.

    Example: `rankery schedules show "nightly web"`
    """
    resource = _schedule_of(session, schedule)
    runs = list(islice(resource.runs(), limit))
    shown = table("due", "status", "detail", "job", "model", wrap=("detail",))
    for run in runs:
        words = (
            moment(run.due_at),
            run.status,
            plain(run.detail or ""),
            run.job_id or run.study_id or "",
            run.model_id or "",
        )
        shown.add_row(*words)
    session.show({"schedule": resource, "runs": runs}, facts(_properties(resource)), "", shown)


@service_command(schedules, "create")
def create_schedule(
    session: ServiceConnection,
    name: Annotated[str, typer.Argument(help="Display name of the schedule.")],
    cron: Annotated[
        str,
        typer.Option(metavar='"0 3 * * *"', help="Minute, hour, day of month, month and day of week to run."),
    ],
    timezone: Annotated[str, typer.Option(help="Time zone of --cron, such as Europe/Zurich.")] = "UTC",
    model: Annotated[
        str | None,
        typer.Option(help="Model name; each run creates its next version.", rich_help_panel=_TRAINING_PANEL),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Name of the training datasets; each run uses the newest one.",
            autocompletion=complete_from_service("datasets"),
            rich_help_panel=_TRAINING_PANEL,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="Loss to minimise.",
            autocompletion=complete_from(LOSSES),
            rich_help_panel=_TRAINING_PANEL,
            show_default=DEFAULT_LOSS,
        ),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Hyperparameter: num_leaves=63.",
            rich_help_panel=_TRAINING_PANEL,
        ),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(
            help="Validation data: a share of the queries, or a dataset's name.",
            rich_help_panel=_TRAINING_PANEL,
            show_default=HELD_OUT,
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option(help="Name of the test datasets.", rich_help_panel=_TRAINING_PANEL)
    ] = None,
    metric: Metrics = None,
    best: BestOption = False,
    budget: BudgetOption = None,
    promote: Annotated[
        str | None,
        typer.Option(
            help="Alias to promote each new version to, if its gate passes.", rich_help_panel=_TRAINING_PANEL
        ),
    ] = None,
    only_new_data: Annotated[
        bool, typer.Option("--only-new-data", help="Skip a run if the datasets are those of the last run.")
    ] = False,
    drift: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="Check the requests of this model for drift.", rich_help_panel=_OTHER_PANEL
        ),
    ] = None,
    from_json: Annotated[
        Path | None,
        file_option(
            "JSON of the job, as in POST /v1/schedules, with datasets by name.", rich_help_panel=_OTHER_PANEL
        ),
    ] = None,
) -> None:
    """Create a schedule of a training, a drift check or a job in a file; one run replaces all missed runs.

    Example: `rankery schedules create "nightly web" --cron "0 3 * * *" --model web --dataset clicks --promote
    champion`

    With --best each run is an automatic training within its time budget.

    Example: `rankery schedules create weekly --cron "0 1 * * 0" --model web --dataset clicks --best`
    """
    chosen_by_best = {"--loss": loss, "--set": set, "--validation": validation}
    if best:
        refuse_options(chosen_by_best | {"--drift": drift, "--from-json": from_json}, best=True)
    else:
        refuse_options({"--budget": budget}, best=False)
    job_options = [model is not None or dataset is not None, drift is not None, from_json is not None]
    if job_options.count(True) != 1:
        raise WrongUsage("give --model and --dataset, or --drift MODEL, or --from-json FILE")
    if model is None and dataset is None:
        _refuse_training_options(chosen_by_best | {"--test": test, "--metric": metric})
    if from_json is not None:
        job = object_of_file(from_json, '{"kind": "drift", "model": "web"}')
    elif drift is not None:
        job = {"kind": "drift", "model": drift}
    elif model is None or dataset is None:
        raise WrongUsage("a training needs both --model and --dataset")
    else:
        job = {"model_name": model, "dataset": dataset, "test_dataset": test}
        if best:
            job |= automatic_training_fields(budget, metric)
        else:
            job |= {
                "kind": "train",
                "loss": {"name": loss or DEFAULT_LOSS},
                "hyperparameters": settings(set, "--set"),
                "validation": share_field(validation or HELD_OUT) or {"dataset": validation},
                "metrics": metric,
            }
        job = {key: value for key, value in job.items() if value is not None}
    made = session.client.create_schedule(
        name, cron, job, timezone=timezone, promote=promote, only_new_data=only_new_data
    )
    say(f"{made.name} runs next at {moment(made.next_run_at)} UTC")
    session.show(made, facts(_properties(made)))


def _refuse_training_options(options: Mapping[str, Any]) -> None:
    refused = [name for name, value in options.items() if value is not None]
    if refused:
        raise WrongUsage(f"{', '.join(refused)}: only for a training by --model and --dataset; leave out")


@service_command(schedules, "pause")
def pause_schedule(session: ServiceConnection, schedule: Reference) -> None:
    """Pause a schedule; a run that has begun continues.

    Example: `rankery schedules pause "nightly web"`
    """
    resource = _schedule_of(session, schedule).pause()
    say(f"{resource.name} is paused")
    session.show(resource)


@service_command(schedules, "resume")
def resume_schedule(session: ServiceConnection, schedule: Reference) -> None:
    """Resume a schedule, from its next time on.

    Example: `rankery schedules resume "nightly web"`
    """
    resource = _schedule_of(session, schedule).resume()
    say(f"{resource.name} runs next at {moment(resource.next_run_at)} UTC")
    session.show(resource)


@service_command(schedules, "run")
def run_schedule(session: ServiceConnection, schedule: Reference) -> None:
    """Queue a run of a schedule now, in addition to the scheduled ones.

    Example: `rankery schedules run "nightly web"`
    """
    run = _schedule_of(session, schedule).run()
    say(f"queued {run.id}; `{session.command(f'schedules show {run.schedule_id}')}` shows its result")
    session.show(run)


@service_command(schedules, "delete")
def delete_schedules(
    session: ServiceConnection,
    schedules: Annotated[
        list[str],
        typer.Argument(help="Ids, sch_…, or names.", autocompletion=complete_from_service("schedules")),
    ],
) -> None:
    """Delete schedules with the list of their runs; a running job continues.

    Example: `rankery schedules delete "nightly web"`
    """
    delete_all(session, [_schedule_of(session, schedule) for schedule in schedules])


def _schedule_of(session: ServiceConnection, reference: str) -> "Schedule":
    if reference.startswith(_PREFIX):
        return session.client.schedule(reference)
    return only_named(session, "schedule", session.client.schedules(), reference)


def _properties(schedule: "Schedule") -> list[tuple[str, Any]]:
    return [
        ("id", schedule.id),
        ("name", schedule.name),
        ("cron", f"{schedule.cron} {schedule.timezone}"),
        ("job", schedule.job.get("kind")),
        ("model", schedule.job.get("model_name") or schedule.job.get("model")),
        ("dataset", schedule.job.get("dataset")),
        ("promotes to", (schedule.promote or {}).get("alias")),
        ("only new data", "yes" if schedule.only_new_data else None),
        ("next runs", ", ".join(moment(at) for at in schedule.next_runs) if schedule.enabled else "paused"),
        ("problem", schedule.problem and (schedule.problem.detail or schedule.problem.title)),
    ]
