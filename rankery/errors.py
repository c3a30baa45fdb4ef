"""Errors of the client and the command line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol


class UserError(Exception):
    """An expected error, with one sentence for the user."""


class ProcessFailed(UserError):
    """A process of the service failed, for instance to start with its settings."""


class NotHealthy(UserError):
    """A health probe failed: a process of the service does not run or is not ready."""


class StackError(UserError):
    """The embedded service cannot start or did not stay up."""


class StackInterrupted(Exception):
    """The embedded service was stopped during its start."""


class ServiceUnreachable(UserError):
    """No Rankery service answers at the address."""


class ClientClosed(UserError, RuntimeError):
    """A call needs the connections of a client that was closed."""


class InvalidSettings(UserError):
    """A setting, a URL, a proxy or an API key is invalid."""


def invalid_settings(faults: Iterable[Mapping[str, Any]]) -> InvalidSettings:
    """Return the error for faults that pydantic found in `RANKERY_…` variables."""
    problems = []
    for fault in faults:
        message = str(fault["msg"]).removeprefix("Value error, ")
        problems.append(f"RANKERY_{fault['loc'][0].upper()}: {message[:1].lower()}{message[1:]}")
    return InvalidSettings("; ".join(problems))


class FileUnusable(UserError):
    """A file, or an option of reading it, cannot be used."""


@dataclass(eq=False)
class FileUnreadable(FileUnusable):
    """A file has errors; the message names the first one.

    Attributes:
        errors: The first 100 errors, each with `detail`, `file`, `line`, `unit`, `column` and `text`.
        causes: All errors of a table by cause and column, as in the `problem` of a dataset.
    """

    message: str
    errors: Sequence[dict[str, Any]]
    causes: Sequence[dict[str, Any]]

    def __str__(self) -> str:
        """Return the message."""
        return self.message

    @property
    def problem(self) -> dict[str, Any]:
        """The errors in the form of a dataset's problem."""
        return {"detail": str(self), "errors": self.errors, "causes": self.causes}


class DataUnusable(UserError):
    """Data in memory cannot be used, for instance because columns or shapes do not match."""


class DataWarning(UserWarning):
    """Data in memory are interpreted in an unexpected way."""


class WrongType(UserError, TypeError):
    """An argument is of a type that is not accepted."""


class NothingFound(UserError):
    """No ready object has this name."""


class InvalidArgument(UserError, ValueError):
    """An argument of the library is unknown, out of bounds or inconsistent with others."""


class PackageMissing(UserError):
    """A requested function needs a package that is not installed."""


class PackageShadowed(UserError):
    """A package on Python's path shadows a package of the server with the same name."""


class WebhookNotVerified(UserError, ValueError):
    """A request was not sent by the service, is too old, or is signed with another secret."""


class AnswerNotUnderstood(UserError):
    """The response is not in the form that this version of the client expects."""


class NothingMade(UserError):
    """A job or a grid has not made the requested result."""


@dataclass(eq=False)
class RankeryApiError(UserError):
    """The service refused a request.

    Attributes:
        status: The HTTP status.
        problem: The problem document (RFC 9457).
    """

    status: int
    problem: dict[str, Any]

    def __str__(self) -> str:
        """Return the problem in one sentence, with the location of every error in the request."""
        detail = str(self.problem.get("detail") or self.problem.get("title") or f"HTTP status {self.status}")
        messages = [
            f"{error.get('pointer', '')}: {error.get('detail', '')}".removeprefix(": ")
            for error in self.problem.get("errors") or ()
        ]
        unmentioned = [message for message in messages if message not in detail]
        return f"{detail.rstrip('.')} ({'; '.join(unmentioned)})" if unmentioned else detail


@dataclass(eq=False)
class KeyRefused(RankeryApiError):
    """The service requires an API key, or refuses this one.

    Attributes:
        has_key: Whether a key was sent.
    """

    has_key: bool

    def __str__(self) -> str:
        """Return the problem and a solution in one sentence."""
        if not self.has_key:
            return "the service requires an API key: pass api_key, or set RANKERY_API_KEY to its secret"
        return f"the service did not accept the API key: {super().__str__()}"


class _Reason(Protocol):
    """Reason of a failure."""

    @property
    def title(self) -> str:
        """Kind of the problem."""

    @property
    def detail(self) -> str | None:
        """Description of this failure."""


class EndedResource(Protocol):
    """A job, study or experiment that has ended, as in responses of the service."""

    @property
    def id(self) -> str:
        """Identifier."""

    @property
    def status(self) -> str:
        """Status at its end."""

    @property
    def problem(self) -> _Reason | None:
        """Reason of the failure, None if unknown."""


class EndedJob(EndedResource, Protocol):
    """A job that has ended."""

    @property
    def kind(self) -> str:
        """Kind of the job, such as `train`."""


class ResourceFailed(UserError):
    """A resource failed or was cancelled during a wait."""

    def _sentence(self, noun: str, resource: EndedResource, otherwise: str = "no reason was given") -> str:
        """Return the reason of the failure as a sentence."""
        problem = resource.problem
        reason = (problem.detail or problem.title) if problem else otherwise
        return f"the {noun} {resource.id} {resource.status}: {reason}"


@dataclass(eq=False)
class StudyFailed(ResourceFailed):
    """A study failed or was cancelled during a wait.

    Attributes:
        study: The study as it ended, with its `problem`.
    """

    study: EndedResource

    def __str__(self) -> str:
        """Return the reason of the failure as a sentence."""
        return self._sentence("study", self.study)


@dataclass(eq=False)
class JobFailed(ResourceFailed):
    """A job failed or was cancelled during a wait.

    Attributes:
        job: The job as it ended, with its `problem`.
    """

    job: EndedJob

    def __str__(self) -> str:
        """Return the reason of the failure as a sentence."""
        return self._sentence(f"{self.job.kind} job", self.job)


@dataclass(eq=False)
class JobRefused(JobFailed):
    """A promotion job ended with a refusal: the gate refused the version."""


@dataclass(eq=False)
class ExperimentFailed(ResourceFailed):
    """An experiment failed or was cancelled during a wait.

    Attributes:
        experiment: The experiment as it ended, with its `problem`.
    """

    experiment: EndedResource

    def __str__(self) -> str:
        """Return the reason of the failure as a sentence."""
        return self._sentence("experiment", self.experiment, "its running trainings are being stopped")


_ARGUMENTS = {"label_map": "labels", "dataset_id": "data"}  # names in jobs, and names in the library


@contextmanager
def convert_invalid_input() -> Iterator[None]:
    """Convert core errors in the block to `InvalidArgument`, with the argument names of the library."""
    from core.errors import InvalidInput

    try:
        yield
    except InvalidInput as invalid:
        problems = [
            (problem.pointer.lstrip("/").replace("/", "."), problem.detail) for problem in invalid.problems
        ]
        sentences = (f"{_ARGUMENTS.get(pointer, pointer)}: {detail}" for pointer, detail in problems)
        raise InvalidArgument("; ".join(sentence.removeprefix(": ") for sentence in sentences)) from None
