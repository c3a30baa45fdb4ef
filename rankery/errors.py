"""Errors of the client and the command line."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankery.client.schemas.answers import Experiment, Job, Study


class UserError(Exception):
    """An expected error, with one sentence for the user."""


class ProcessFailed(UserError):
    """A process of the service cannot work with what it was given."""


class NotHealthy(UserError):
    """A probe failed: a process of the service does not run, or cannot work at present."""


class StackError(UserError):
    """The embedded service cannot start or did not stay up."""


class StackInterrupted(Exception):
    """Someone asked the embedded service to stop while it was still starting."""


class ServiceUnreachable(UserError):
    """No Rankery service answers at the address."""


class InvalidSettings(UserError):
    """A setting in the environment or on the command line is unknown or out of bounds."""


class FileUnusable(UserError):
    """A file cannot be read or written."""


class DataUnusable(UserError):
    """Data in memory cannot be sent: columns or shapes do not fit."""


class DataWarning(UserWarning):
    """Data in memory are used otherwise than their owner may expect."""


class WrongType(UserError, TypeError):
    """An argument is of a type that is not accepted."""


class NothingFound(UserError):
    """Nothing has the name that was given."""


class InvalidArgument(UserError, ValueError):
    """An argument of the library is unknown, out of bounds or does not fit the others."""


class PackageMissing(UserError):
    """Something asked for needs a package that is not installed."""


class PackageShadowed(UserError):
    """Another package has the name of one of the server's and comes before it on Python's path."""


class WebhookNotVerified(UserError, ValueError):
    """A request was not sent by the service, or not now, or its secret is another one."""


class AnswerNotUnderstood(UserError):
    """The service answered with something else than this version of the client expects."""


class NothingMade(UserError):
    """A job has not made what it was asked for."""


@dataclass
class RankeryApiError(UserError):
    """The service refused a request.

    Attributes:
        status: The HTTP status.
        problem: The problem document (RFC 9457) as it was sent.
    """

    status: int
    problem: dict[str, Any]

    def __str__(self) -> str:
        """Return the problem in one sentence, with the place of every error in the payload."""
        detail = str(self.problem.get("detail") or self.problem.get("title") or f"HTTP status {self.status}")
        places = [
            f"{error.get('pointer', '')}: {error.get('detail', '')}".removeprefix(": ")
            for error in self.problem.get("errors") or ()
        ]
        unsaid = [place for place in places if place not in detail]
        return f"{detail.rstrip('.')} ({'; '.join(unsaid)})" if unsaid else detail


@dataclass
class KeyRefused(RankeryApiError):
    """The service lets nobody in without an API key, or not with this one.

    Attributes:
        has_key: Whether one was sent.
    """

    has_key: bool

    def __str__(self) -> str:
        """Return what to do, in one sentence."""
        if not self.has_key:
            return "the service wants an API key: pass api_key, or set RANKERY_API_KEY to its secret"
        return f"the service did not accept the API key: {super().__str__()}"


@dataclass
class StudyFailed(UserError):
    """A study that was waited for failed or was cancelled.

    Attributes:
        study: The study as it ended, with its `problem`.
    """

    study: "Study"

    def __str__(self) -> str:
        """Return why, in one sentence."""
        problem = self.study.problem
        reason = (problem.detail or problem.title) if problem else "no reason was given"
        return f"the study {self.study.id} {self.study.status}: {reason}"


@dataclass
class JobFailed(UserError):
    """A job that was waited for failed or was cancelled.

    Attributes:
        job: The job as it ended, with its `problem`.
    """

    job: "Job"

    def __str__(self) -> str:
        """Return why, in one sentence."""
        problem = self.job.problem
        reason = (problem.detail or problem.title) if problem else "no reason was given"
        return f"the {self.job.kind} job {self.job.id} {self.job.status}: {reason}"


@dataclass
class JobRefused(JobFailed):
    """A job that was waited for decided against what it was asked for: a gate refused the version."""


@dataclass
class ExperimentFailed(UserError):
    """An experiment that was waited for failed or was cancelled.

    Attributes:
        experiment: The experiment as it ended, with its `problem`.
    """

    experiment: "Experiment"

    def __str__(self) -> str:
        """Return why, in one sentence."""
        problem = self.experiment.problem
        reason = (problem.detail or problem.title) if problem else "its trainings that run are being stopped"
        return f"the experiment {self.experiment.id} {self.experiment.status}: {reason}"
