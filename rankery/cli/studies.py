"""`rankery studies`: hyperparameter searches."""

from itertools import islice
from typing import Annotated

import typer

from rankery.cli.bulk import add_delete
from rankery.cli.connection import ServiceConnection
from rankery.cli.options import Limit, OfStatus
from rankery.cli.printing import age, number, plain, say, table
from rankery.cli.service_options import on_service
from rankery.cli.tune import study_as_json, study_tables

studies = typer.Typer(help="List, stop and delete studies.", no_args_is_help=True)

_Study = Annotated[str, typer.Argument(help="The study's id, std_…")]


@studies.command("list")
@on_service
def list_studies(session: ServiceConnection, status: OfStatus = None, limit: Limit = 20) -> None:
    """List studies, newest first; `rankery tune` starts one.

    Example: `rankery studies list --status running`
    """
    studies = list(islice(session.client.studies(status=status), limit))
    shown = table("id", "name", "status", "best", "age", right=("best", "age"), wrap=("name",))
    for one in studies:
        best = "" if one.best is None else number(one.best.value)
        shown.add_row(one.id, plain(one.name), one.status, best, age(one.created_at))
    session.show(studies, shown)


@studies.command("show")
@on_service
def show_study(session: ServiceConnection, study: _Study) -> None:
    """Show the best trials of a study, and its conclusion.

    Example: `rankery studies show std_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.study(study)
    session.show(study_as_json(resource), *study_tables(resource))


@studies.command("pause")
@on_service
def pause_study(session: ServiceConnection, study: _Study) -> None:
    """Pause a study: start no further trials; running trials continue.

    Example: `rankery studies pause std_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.study(study).pause()
    say(f"{resource.id} is {resource.status}")
    session.show(resource)


@studies.command("resume")
@on_service
def resume_study(session: ServiceConnection, study: _Study) -> None:
    """Resume a paused study.

    Example: `rankery studies resume std_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.study(study).resume()
    say(f"{resource.id} is {resource.status}")
    session.show(resource)


@studies.command("cancel")
@on_service
def cancel_study(session: ServiceConnection, study: _Study) -> None:
    """Cancel a study and its running trials, without a conclusion.

    Example: `rankery studies cancel std_01k9x2m4q7c8v5n3b6r9`
    """
    resource = session.client.study(study).cancel()
    say(f"{resource.id} is {resource.status}")
    session.show(resource)


add_delete(studies, "studies", "--status cancelled --yes")
