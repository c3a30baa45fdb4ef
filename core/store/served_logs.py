"""Click logs made of served rankings, and of interleaved lists."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from core.jobs.ingest import IngestClicksJob
from core.store.tables import ClickLog, Job
from core.store.tables.datasets import INTERLEAVED, SERVED
from core.store.transaction import Transaction

FORMAT = "sessions"
# A period ends this long ago by default; users may still click on later rankings, which would be unclicked.
CLICK_WINDOW = timedelta(minutes=30)


@dataclass(frozen=True)
class ServedPeriod:
    """The served rankings that a click log is made of.

    Attributes:
        version: Its version, None for all.
        since: Start of the period, None for all stored rankings.
    """

    kind: ClassVar[str] = SERVED

    model: str
    version: int | None
    since: datetime | None
    until: datetime

    @classmethod
    def of_model(cls, tx: Transaction, ref: str, since: datetime | None, until: datetime) -> "ServedPeriod":
        """Return the period of all versions of a name, or of the version that a reference names.

        Raises:
            NotFound: There is no such model.
        """
        model = tx.models.resolve(ref)
        return cls(model.name, None if ref == model.name else model.version, since, until)

    @classmethod
    def from_json(cls, source: Mapping[str, Any]) -> "ServedPeriod":
        """Parse the period from the `source` of a click log."""
        since = source.get("since")
        return cls(
            source["model"],
            source.get("version"),
            None if since is None else datetime.fromisoformat(since),
            datetime.fromisoformat(source["until"]),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the period as JSON."""
        since = None if self.since is None else self.since.isoformat()
        return {
            "model": self.model,
            "version": self.version,
            "since": since,
            "until": self.until.isoformat(),
        }


@dataclass(frozen=True)
class InterleavedLists:
    """The lists of an interleaving that a click log is made of."""

    kind: ClassVar[str] = INTERLEAVED

    interleaving_id: str

    def to_json(self) -> dict[str, Any]:
        """Return the id of the interleaving as JSON."""
        return {"interleaving_id": self.interleaving_id}


def queue_served_log(
    tx: Transaction,
    name: str,
    lists: ServedPeriod | InterleavedLists,
    options: Mapping[str, Any],
    *,
    key_id: str | None = None,
    project: str | None = None,
) -> tuple[ClickLog, Job]:
    """Record a pending click log of lists that the service stored, and queue the job that makes it.

    Args:
        options: Options of reading, such as `actions`.
    """
    source = {"kind": lists.kind, **lists.to_json(), "format": FORMAT, "options": dict(options)}
    log = tx.click_logs.add(name, source, key_id=key_id, project=project)
    job = tx.enqueue(IngestClicksJob(click_log_id=log.id, name=log.name), key_id)
    tx.click_logs.attach_job(log.id, job.id)
    return log, job
