"""`rankery jobs`: queued, running and finished jobs."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from rankery.cli.bulk import add_delete
from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED, REFUSED
from rankery.cli.findings import findings_below, severity_counts
from rankery.cli.labels import Project, Text, add_label, describe_object
from rankery.cli.measures import leaderboard
from rankery.cli.options import Limit, OfJobStatus, OfKind, OfProject
from rankery.cli.printing import age, facts, moment, number, plain, say, table
from rankery.cli.service_options import service_command

if TYPE_CHECKING:
    from rankery.client import Job

jobs = typer.Typer(help="Follow, wait for and cancel jobs.", no_args_is_help=True)

_Job = Annotated[
    str, typer.Argument(help="The job's id, job_…", autocompletion=complete_from_service("jobs"))
]
_Jobs = Annotated[
    list[str], typer.Argument(help="Ids of the jobs, job_…", autocompletion=complete_from_service("jobs"))
]


@service_command(jobs, "list")
def list_jobs(
    session: ServiceConnection,
    status: OfJobStatus = None,
    kind: OfKind = None,
    project: OfProject = None,
    limit: Limit = 20,
) -> None:
    """List jobs, newest first.

    Without --kind, the list leaves out the candidates of automatic trainings, and all trials of each study
    except the last.

    Example: `rankery jobs list --kind train --status running`
    """
    folded = True if kind is None else None
    listed = session.client.jobs(kind=kind, status=status, project=project, folded=folded)
    resources = list(islice(listed, limit))
    shown = table(
        "id", "kind", "status", "title", "progress", "age", right=("age",), wrap=("title", "progress")
    )
    for job in resources:
        state = ", ".join(filter(None, [job.status, severity_counts(job)]))
        shown.add_row(job.id, job.kind, state, plain(job.title), _progress(job), age(job.created_at))
    session.show(resources, shown)


@service_command(jobs, "show")
def show_job(session: ServiceConnection, job: _Job) -> None:
    """Show the status, the progress and the result of a job.

    Example: `rankery jobs show job_01k9x2z4q7c8v5n3b6r1`
    """
    resource = session.client.job(job)
    session.show(resource, facts(_properties(resource)), *findings_below(resource))


@service_command(jobs, "wait")
def wait_for_jobs(
    session: ServiceConnection,
    jobs: _Jobs,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Stop waiting after this many seconds.", show_default="never")
    ] = None,
) -> None:
    """Wait until jobs have ended.

    The exit code is 1 if one failed or was cancelled, else 3 if a gate refused one.

    Example: `rankery jobs wait job_01k9x2z4q7c8v5n3b6r1 --timeout 3600`
    """
    resources = [session.client.job(job) for job in jobs]
    session.wait_all(resources, timeout)
    for job in resources:
        say(ending(job), always=job.status != "succeeded" or bool(_errors(job)))
    session.show(resources)
    endings = {job.status for job in resources} - {"succeeded"}
    if endings:
        raise typer.Exit(REFUSED if endings == {"refused"} else FAILED)


@service_command(jobs, "cancel")
def cancel_jobs(session: ServiceConnection, jobs: _Jobs) -> None:
    """Cancel jobs: queued jobs immediately, running jobs shortly after.

    Example: `rankery jobs cancel job_01k9x2z4q7c8v5n3b6r1`
    """
    cancelled = [session.client.job(job).cancel() for job in jobs]
    for job in cancelled:
        say(f"{job.id} {'is cancelled' if job.has_ended else 'is being stopped'}")
    session.show(cancelled)


@service_command(jobs, "history")
def show_history(
    session: ServiceConnection,
    job: _Job,
    after: Annotated[int, typer.Option(min=0, help="Show only iterations after this one.")] = 0,
) -> None:
    """Show the learning curves of a training, one line for each measured iteration.

    Example: `rankery jobs history job_01k9x2z4q7c8v5n3b6r1 --after 100`
    """
    history = session.client.job(job).history(after)
    names = [f"{data} {metric}" for data, curves in history.curves.items() for metric in curves]
    curves = [values for curves in history.curves.values() for values in curves.values()]
    shown = table("iteration", *names, right=("iteration", *names))
    for index, iteration in enumerate(history.iterations):
        values = (number(curve[index]) for curve in curves)
        style = "bold" if iteration == history.best_iteration else ""
        shown.add_row(str(iteration), *values, style=style)
    notes = [] if history.best_iteration is None else [f"best iteration: {history.best_iteration}"]
    if history.times:
        notes.insert(0, f"an iteration takes {history.times}")
    session.show(history, shown, *notes)


@service_command(jobs, "candidates")
def show_candidates(session: ServiceConnection, job: _Job) -> None:
    """Show the candidates of an automatic training so far, the best first, and its conclusion.

    Example: `rankery jobs candidates job_01k9x2z4q7c8v5n3b6r1`
    """
    resource = session.client.job(job)
    candidates = resource.leaderboard()
    conclusion = [] if resource.conclusion is None else [plain(resource.conclusion.sentence)]
    session.show(candidates, leaderboard(candidates, resource.spec["metric"]), *conclusion)


@service_command(jobs, "describe")
def describe_job(
    session: ServiceConnection,
    job: _Job,
    name: Annotated[str | None, typer.Option(help='Name of the job; "" for none.')] = None,
    text: Text = None,
    project: Project = None,
) -> None:
    """Show or change the name, the notes and the project of a job.

    Example: `rankery jobs describe job_01k9x2z4q7c8v5n3b6r1 --text "Trained by hand"`
    """
    describe_object(session, "jobs", job, name=name, notes=text, project=project)


add_label(jobs, "jobs", "--project - --kind train --to-project search --dry-run")
add_delete(jobs, "jobs", "--status failed --older-than 7 --with-results --yes")


def ending(job: "Job") -> str:
    """Return the status of an ended job, with its problem or the errors among its findings."""
    why = job.problem and (job.problem.detail or job.problem.title)
    reasons = [why] if why and job.status in {"failed", "refused"} else _errors(job)
    return ": ".join([f"{job.id} {job.status}", *(["; ".join(reasons)] if reasons else [])])


def _errors(job: "Job") -> list[str]:
    return [finding.title for finding in job.findings or () if finding.severity == "error"]


def _progress(job: "Job") -> str:
    progress = job.progress
    if progress is None or job.status != "running":
        return ""
    left = "" if progress.eta_seconds is None else f", {progress.eta_seconds:.0f} s left"
    return f"{job.steps}{left}"


def _properties(job: "Job") -> Iterator[tuple[str, Any]]:
    from rankery.client.display.texts import ranks

    yield "id", job.id
    yield "kind", job.kind
    yield "status", job.status
    yield "title", job.title or None
    yield "progress", _progress(job) or None
    yield "ranks", plain(ranks(job)) or None
    yield "problem", job.problem and (job.problem.detail or job.problem.title)
    nested = []
    for name, value in (job.result or {}).items():
        parts = value if isinstance(value, list) else [value]
        if not any(isinstance(part, dict) for part in parts):
            yield name.replace("_", " "), value
        elif all("sentence" in part for part in parts):
            yield name.replace("_", " "), " ".join(part["sentence"] for part in parts)
        else:
            nested.append(name)
    yield "only in JSON", ", ".join(nested) or None
    for data, metrics in (job.metrics or {}).items():
        yield f"{data} metrics", ", ".join(f"{name} {number(value)}" for name, value in metrics.items())
    yield "priority", job.priority
    yield "key", job.key_id
    for name, at in (("created", job.created_at), ("started", job.started_at), ("ended", job.finished_at)):
        yield name, at and f"{moment(at)} UTC"
    if job.attempts and len(job.attempts) > 1:
        yield "attempts", _attempts(job.attempts)
    if job.phases:
        yield "phases", _phases(job.phases)


def _phases(phases: Any) -> Table:
    shown = Table.grid(padding=(0, 2))
    for phase in phases:
        memory = phase.peak_memory_bytes
        peak = "" if memory is None else f"peak memory {memory / 1e6:,.0f} MB"
        shown.add_row(plain(phase.phase), f"{phase.seconds:,.1f} s", peak)
    return shown


def _attempts(attempts: Any) -> Table:
    shown = Table.grid(padding=(0, 2))
    for attempt in attempts:
        resumed = "" if attempt.resumed_from is None else f"from iteration {attempt.resumed_from}"
        shown.add_row(str(attempt.number), moment(attempt.started_at), attempt.ending or "running", resumed)
    return shown
