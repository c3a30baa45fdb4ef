"""What can go wrong in the field's words; the web layer maps each type to a status in one table."""

from dataclasses import dataclass
from typing import Any


class RankeryError(Exception):
    """Base of every error that a user can cause or must be told about; can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would call the class with the message alone.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[RankeryError], arguments: tuple[Any, ...], state: dict[str, Any]) -> RankeryError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


@dataclass(frozen=True)
class InputProblem:
    """One thing wrong with an input.

    Attributes:
        pointer: Where, as an RFC 6901 JSON pointer into the payload (`/loss/mu`).
        detail: What is wrong and what would be right.
    """

    pointer: str
    detail: str


class InvalidInput(RankeryError):
    """A specification, hyperparameter or payload is out of bounds or unknown."""

    def __init__(self, *problems: InputProblem) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{p.pointer}: {p.detail}" for p in problems))

    @classmethod
    def at(cls, pointer: str, detail: str) -> "InvalidInput":
        """Build the error for a single place."""
        return cls(InputProblem(pointer, detail))

    def below(self, pointer: str) -> "InvalidInput":
        """Return the same problems of a part that stands at `pointer` in the whole payload."""
        return InvalidInput(*(InputProblem(pointer + found.pointer, found.detail) for found in self.problems))


class FeaturesAbsent(InvalidInput):
    """A dataset lacks more than half of the features that a model uses."""


@dataclass(frozen=True)
class DatasetProblem:
    """One thing in a file that cannot be understood.

    Attributes:
        detail: What was expected and what was found.
        file: Name of the file as the user knows it.
        line: 1-based line (row of a Parquet file), or None where the whole file is meant.
        column: 1-based column in bytes, or the name of a column of a table, or None.
        text: The offending text, shortened.
    """

    detail: str
    file: str | None = None
    line: int | None = None
    column: int | str | None = None
    text: str | None = None

    def __str__(self) -> str:
        place = ", ".join(
            f"{name} {value}"
            for name, value in (("file", self.file), ("line", self.line), ("column", self.column))
            if value is not None
        )
        return f"{place}: {self.detail}" if place else self.detail


@dataclass(frozen=True)
class ProblemCause:
    """All problems of a table that have one cause and one column.

    Attributes:
        cause: `not_a_number`, `decimal_comma`, …
        title: The cause in words.
        column: Name of the column, or None where rows or the header are meant.
        count: How many there are.
        at_least: Whether there may be more, because reading stopped.
        lines: Lines of the first few.
        texts: Offending texts among those of the first few, shortened, all different.
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
        problems: What is wrong, in file order; the first 100 of them where there are more.
        more: Whether there are more than these.
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
        """Build the error for a single place."""
        return cls(DatasetProblem(detail, file, line, column, text), causes=causes)


class RunError(DatasetError):
    """A TREC run cannot be read."""


class ModelError(RankeryError):
    """A model text cannot be used, or the features offered do not fit the model."""


class ScoreNotFinite(ModelError):
    """A model computes NaN or infinity for a document, which has no rank by it.

    Attributes:
        row: Position of the document among those that were scored together.
        score: What was computed.
    """

    def __init__(self, row: int, score: float, model: str = "the model", document: str | None = None) -> None:
        self.row = row
        self.score = score
        place = document or f"document {row}, counted from 0"
        super().__init__(
            f"{model} computes {score} as the score of {place}: its features are too large for the weights of"
            " the model. Correct them, or train the model again with inputs that are rank-gauss"
        )

    def of(self, model: str, document: str | None) -> "ScoreNotFinite":
        """Return the error with the reference of the model and the name of the document."""
        return ScoreNotFinite(self.row, self.score, model, document)


class NotFound(RankeryError):
    """No row, artifact or alias of that name exists."""

    def __init__(self, kind: str, id: str) -> None:
        self.kind = kind
        self.id = id
        super().__init__(f"there is no {kind} {id!r}")


class WrongState(RankeryError):
    """The thing exists but does not allow the action in its present state."""

    def __init__(self, kind: str, id: str, status: str, detail: str) -> None:
        self.kind = kind
        self.id = id
        self.status = status
        self.detail = detail
        super().__init__(f"{kind} {id} is {status}: {detail}")


@dataclass(frozen=True)
class Holder:
    """Something that needs an object, which therefore cannot be deleted.

    Attributes:
        kind: `alias`, `comparison`, `study`, `job`, …
        id: Its id, or the reference of an alias.
        name: What people call it.
        reason: Why it needs the object, as the end of a sentence that begins with its kind and name.
    """

    kind: str
    id: str
    name: str
    reason: str


class StillNeeded(RankeryError):
    """The thing cannot be deleted, because others need it.

    Attributes:
        holders: What needs it.
    """

    def __init__(self, kind: str, id: str, holders: tuple[Holder, ...], way_out: str) -> None:
        self.kind = kind
        self.id = id
        self.holders = holders
        first = f"{holders[0].kind} {holders[0].name} {holders[0].reason}"
        others = f" and {len(holders) - 1} more" if len(holders) > 1 else ""
        super().__init__(f"{kind} {id} is still needed: {first}{others}; {way_out}")


class LeaseLost(RankeryError):
    """The job was given to another worker; this one may no longer write for it."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"the lease on {job_id} was lost")


class AddressRefused(RankeryError):
    """A host leads to an address that users may not make the service connect to.

    The message does not name the address: who may not connect to a private network learns nothing about it.
    """

    def __init__(self, host: str, address: str, reason: str) -> None:
        self.host = host
        self.address = address
        self.reason = reason
        what = f"the address is {reason}"
        if host != address:
            what = f"its address, which is in the log of the server, is {reason}"
        super().__init__(f"{host} is refused: {what}; RANKERY_OUTBOUND_ALLOWED allows addresses")


class RanksLost(RankeryError):
    """The processes of a training were lost again and again."""


class JobCancelled(RankeryError):
    """The user asked for the job to stop."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"{job_id} was cancelled")


class JobQuotaExceeded(RankeryError):
    """A key has as many jobs that wait or run as it may."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        super().__init__(f"at most {bound:,} jobs may wait or run at a time; try again when one has ended")


class ByteQuotaExceeded(RankeryError):
    """A key has as many bytes of datasets as it may."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        super().__init__(f"at most {bound:,} bytes of datasets may be stored; delete some first")


class UploadQuotaExceeded(RankeryError):
    """A key has as many open uploads as it may."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        super().__init__(f"at most {bound:,} uploads may be open at a time; use or delete some first")


class UploadTakenOver(RankeryError):
    """Another request goes on with an upload; what this one still sends is not kept."""

    def __init__(self, upload_id: str) -> None:
        self.upload_id = upload_id
        super().__init__(f"another request goes on with upload {upload_id}, or it was deleted")


class KernelsNotReady(RankeryError):
    """The compiled code that a request or a job needs is still being compiled, or cannot be."""


class StoreUnavailable(RankeryError):
    """The database or the artifact store cannot be opened or reached."""


class ClusterUnavailable(StoreUnavailable):
    """The Dask cluster cannot be reached, or has no workers for what is asked of it."""


class ExtraMissing(RankeryError):
    """An optional package that something asked for needs is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        command = f'pip install "rankery-server[{extra}]", or make extras in a clone'
        super().__init__(f"{what} needs an optional package: {command}")


class ArtifactDamaged(RankeryError):
    """Stored bytes are gone or are not those that were written, so nothing is made of them."""

    def __init__(self, key: str, detail: str) -> None:
        self.key = key
        self.detail = detail
        super().__init__(f"the stored artifact {key} is damaged: {detail}")


class StoreFull(StoreUnavailable):
    """There is no room for what was to be stored."""
