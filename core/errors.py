"""Typed errors of the domain; the web layer maps each type to an HTTP status in one table."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

LineUnit: TypeAlias = Literal["line", "row"]
MAX_PROBLEMS = 100  # listed by a `DatasetError`


class RankeryError(Exception):
    """Base of every error that is shown to users; can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, unpickling would call the class with the message alone.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[RankeryError], arguments: tuple[Any, ...], state: dict[str, Any]) -> RankeryError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


@dataclass(frozen=True)
class InputProblem:
    """One problem of an input.

    Attributes:
        pointer: Place in the payload, an RFC 6901 JSON pointer (`/loss/mu`).
    """

    pointer: str
    detail: str


def pointer_of(*parts: str | int) -> str:
    """Return an RFC 6901 JSON pointer, escaping `~` and `/` in its parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class InvalidInput(RankeryError):
    """A specification, hyperparameter or payload is out of bounds or unknown."""

    def __init__(self, *problems: InputProblem) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{p.pointer}: {p.detail}" for p in problems))

    @classmethod
    def at(cls, pointer: str, detail: str) -> "InvalidInput":
        """Build an error with one problem."""
        return cls(InputProblem(pointer, detail))

    def below(self, pointer: str) -> "InvalidInput":
        """Return the same problems with `pointer` before each pointer."""
        return InvalidInput(*(InputProblem(pointer + each.pointer, each.detail) for each in self.problems))


class FeaturesAbsent(InvalidInput):
    """A dataset lacks more than half of the features that a model uses."""


@dataclass(frozen=True)
class DatasetProblem:
    """One parse error of a file.

    Attributes:
        line: 1-based line (row of a Parquet file), or None for the whole file.
        column: 1-based column in bytes, or the name of a column of a table, or None.
        unit: Unit that `line` counts: `line`, or `row` of a Parquet file.
    """

    detail: str
    file: str | None = None
    line: int | None = None
    column: int | str | None = None
    text: str | None = None
    unit: LineUnit = "line"

    def __str__(self) -> str:
        location = ", ".join(
            f"{name} {value}"
            for name, value in (("file", self.file), (self.unit, self.line), ("column", self.column))
            if value is not None
        )
        return f"{location}: {self.detail}" if location else self.detail


@dataclass(frozen=True)
class ProblemCause:
    """All problems of a table with the same cause and column.

    Attributes:
        cause: `not_a_number`, `decimal_comma`, …
        column: Name of the column, or None for rows or the header.
        at_least: Whether there may be more problems, because reading stopped.
        lines: Lines of the first few problems, or rows of a Parquet file.
        texts: Distinct offending texts of the first few problems, shortened.
        can_ignore: Whether the file may be read without the column.
    """

    cause: str
    title: str
    column: str | None
    count: int
    at_least: bool
    lines: tuple[int, ...]
    texts: tuple[str, ...]
    can_ignore: bool


class DatasetError(RankeryError):
    """A judged dataset cannot be read.

    Attributes:
        problems: The first `MAX_PROBLEMS` problems, in file order.
        more: Whether there are more problems than these.
        causes: All problems of a table by cause and column, the most frequent first; empty for other formats.
    """

    def __init__(
        self, *problems: DatasetProblem, more: bool = False, causes: tuple[ProblemCause, ...] = ()
    ) -> None:
        self.problems = problems
        self.more = more
        self.causes = causes
        others = len(problems) - 1
        rest = f" (and {'at least ' if more else ''}{others} more)" if others else ""
        super().__init__(f"{problems[0]}{rest}")

    @classmethod
    def at(
        cls,
        detail: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | str | None = None,
        text: str | None = None,
        causes: tuple[ProblemCause, ...] = (),
    ) -> "DatasetError":
        """Build an error with one problem."""
        return cls(DatasetProblem(detail, file, line, column, text), causes=causes)

    @classmethod
    def changed(cls, file: str) -> "DatasetError":
        """Build the error for a file of a folder that changed while it was read."""
        expected = "expected a file that does not change, but it changed while it was read"
        return cls.at(f"{expected}; import the folder again when it is complete", file=file)


class RunError(DatasetError):
    """A TREC run cannot be read."""


class ModelError(RankeryError):
    """A model text cannot be used, or the given features do not fit the model."""


class ScoreNotFinite(ModelError):
    """A model computes NaN or infinity for a document, which therefore cannot be ranked.

    Attributes:
        row: Position of the document in the batch.
    """

    def __init__(self, row: int, score: float, model: str = "the model", document: str | None = None) -> None:
        self.row = row
        self.score = score
        name = document or f"document {row}, counted from 0"
        super().__init__(
            f"{model} computes the score {score} for {name}: the features of the document are too large for"
            " the weights of the model. Correct them, or train the model again with inputs that are"
            " rank-gauss"
        )

    def of(self, model: str, document: str | None) -> "ScoreNotFinite":
        """Return the error with the reference of the model and the name of the document."""
        return ScoreNotFinite(self.row, self.score, model, document)


class NotFound(RankeryError):
    """No row, artifact or alias of that name exists; `hint` has the reason or a remedy."""

    def __init__(self, kind: str, id: str, hint: str | None = None) -> None:
        self.kind = kind
        self.id = id
        super().__init__(f"there is no {kind} {id!r}" + (f"; {hint}" if hint else ""))


class WrongState(RankeryError):
    """The object exists, but its state does not allow the action."""

    def __init__(self, kind: str, id: str, status: str, detail: str) -> None:
        self.kind = kind
        self.id = id
        self.status = status
        self.detail = detail
        super().__init__(f"{kind} {id} is {status}: {detail}")


@dataclass(frozen=True)
class Holder:
    """A dependent of an object, which therefore cannot be deleted.

    Attributes:
        kind: `alias`, `comparison`, `study`, `job`, …
        id: Its id, or the reference of an alias.
        reason: Reason for the dependency, as the predicate of a sentence whose subject is its kind and name.
    """

    kind: str
    id: str
    name: str
    reason: str


class StillNeeded(RankeryError):
    """The object has dependents and cannot be deleted."""

    def __init__(self, kind: str, id: str, holders: tuple[Holder, ...], remedy: str) -> None:
        self.kind = kind
        self.id = id
        self.holders = holders
        first = f"{holders[0].kind} {holders[0].name} {holders[0].reason}"
        others = f" and {len(holders) - 1} more" if len(holders) > 1 else ""
        super().__init__(f"{kind} {id} is still needed: {first}{others}; {remedy}")


class LeaseLost(RankeryError):
    """The claim of the job has ended, for example because another worker has it; write nothing more to it."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"the lease on {job_id} was lost")


class AddressRefused(RankeryError):
    """A host resolves to an address that the service does not connect to for users.

    The message about a host name omits its address, so that it reveals nothing about private networks.
    """

    def __init__(self, host: str, address: str, reason: str) -> None:
        self.host = host
        self.address = address
        self.reason = reason
        problem = f"the address is {reason}"
        if host != address:
            problem = f"its address (see the log of the server) is {reason}"
        super().__init__(
            f"{host} is refused: {problem}; the operator can allow addresses with RANKERY_OUTBOUND_ALLOWED"
        )


class RanksLost(RankeryError):
    """The processes of a distributed training were lost repeatedly, without another tree in between."""


class JobCancelled(RankeryError):
    """The cancellation of the job was requested."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"{job_id} was cancelled")


class JobQuotaExceeded(RankeryError):
    """The quota of active jobs of an API key is used up."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        super().__init__(
            f"at most {bound:,} jobs may wait or run at a time; submit the job again after another job"
            " has ended"
        )


class JobQuotaTooSmall(RankeryError):
    """A request needs more jobs than the quota of an API key ever allows."""

    def __init__(self, bound: int, needed: int) -> None:
        self.bound = bound
        self.needed = needed
        jobs = "1 job" if needed == 1 else f"{needed:,} jobs"
        super().__init__(
            f"the request needs {jobs}, but at most {bound:,} may wait or run at a time; send smaller"
            " requests, or ask for a higher max_active_jobs of the key"
        )


class ByteQuotaExceeded(RankeryError):
    """The quota of bytes of an API key is used up."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        super().__init__(
            f"at most {bound:,} bytes of datasets, click logs and open uploads may be stored; delete some"
            " of them first"
        )


class UploadQuotaExceeded(RankeryError):
    """The quota of open uploads of an API key is used up."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        super().__init__(
            f"at most {bound:,} uploads may be open at a time; finish or delete an open upload first"
        )


class UploadTakenOver(RankeryError):
    """Another request has taken the upload over, or it was deleted; further bytes are discarded."""

    def __init__(self, upload_id: str) -> None:
        self.upload_id = upload_id
        super().__init__(f"another request has taken over upload {upload_id}, or the upload was deleted")


class KernelsNotReady(RankeryError):
    """The kernels that a request or a job needs are still being compiled, or their compilation failed."""


class StoreUnavailable(RankeryError):
    """The database or the artifact store cannot be opened or reached."""


class ClusterUnavailable(StoreUnavailable):
    """The Dask cluster cannot be reached, or lacks the requested workers."""


class ExtraMissing(RankeryError):
    """An optional package that the request needs is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        command = f'install it with pip install "rankery-server[{extra}]", or with make extras in a clone'
        super().__init__(f"{feature} needs an optional package; {command}")


class ArtifactDamaged(RankeryError):
    """A stored artifact is missing, incomplete or unreadable, or does not match its checksum."""

    def __init__(self, key: str, detail: str) -> None:
        self.key = key
        self.detail = detail
        super().__init__(f"the stored artifact {key} is damaged: {detail}")


class StoreFull(StoreUnavailable):
    """The database, the storage or the disk of temporary files has too little free space."""
