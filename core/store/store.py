"""The store: rows in transactions, bytes under keys."""

import contextlib
from collections.abc import Iterator
from typing import Self

from sqlalchemy import Engine, text
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from core.errors import StoreUnavailable
from core.store import engines, schema
from core.store.artifacts import Artifacts
from core.store.comparisons import Comparisons
from core.store.datasets import Datasets
from core.store.evaluations import Evaluations
from core.store.forking import ForkGuard
from core.store.idempotency import Idempotency
from core.store.jobs import Jobs
from core.store.models import Models
from core.store.rankings import Rankings
from core.store.settings import StoreSettings


class Transaction:
    """All that is on record, seen and changed as one.

    Attributes:
        datasets: The datasets.
        jobs: The jobs.
        models: The models.
        evaluations: The evaluations.
        rankings: The rankings.
        comparisons: The comparisons.
        idempotency: The answers kept for repeated requests.
    """

    def __init__(self, session: Session) -> None:
        self.datasets = Datasets(session)
        self.jobs = Jobs(session)
        self.models = Models(session)
        self.evaluations = Evaluations(session)
        self.rankings = Rankings(session)
        self.comparisons = Comparisons(session)
        self.idempotency = Idempotency(session)


class Store:
    """Everything that outlives a process.

    Safe to share between threads. A process may fork with a store open: the connections are closed before,
    and the child opens its own. It must not fork inside a transaction of its own.

    Attributes:
        artifacts: The bytes.
    """

    def __init__(self, engine: Engine, artifacts: Artifacts) -> None:
        self.artifacts = artifacts
        self._engine = engine
        self._writing = engines.for_writing(engine)
        self._reading = engines.for_reading(engine)
        self._guard = ForkGuard(engine)

    @classmethod
    def open(cls, settings: StoreSettings) -> Self:
        """Open the store that the settings name; `migrate` before the first use.

        Raises:
            StoreUnavailable: A URL cannot be understood or the folder cannot be made.
        """
        try:
            return cls(engines.open_engine(settings.database_url), Artifacts(settings.storage_url))
        except OSError as error:
            raise StoreUnavailable(f"the data folder cannot be used: {error}") from error

    def migrate(self) -> None:
        """Bring the database to the present schema; several processes may do so at once.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with _reported(), self._guard.inside():
            schema.upgrade(self._engine)

    def close(self) -> None:
        """Give up the connections."""
        self._engine.dispose()

    @contextlib.contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Open a transaction that writes: committed when the block ends well, undone when it raises.

        On SQLite one such transaction runs at a time; others wait up to 30 seconds. Rows read inside stay
        usable after the block.

        Raises:
            StoreUnavailable: The database cannot be reached or is busy for too long.
        """
        with self._session(self._writing) as session:
            yield Transaction(session)

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a transaction that only reads and sees one moment; writing in it fails.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with self._session(self._reading) as session:
            yield Transaction(session)

    def ping(self) -> bool:
        """Tell whether the database answers."""
        try:
            with self._guard.inside(), self._reading.connect() as connection:
                connection.execute(text("SELECT 1"))
        except (OperationalError, InterfaceError):
            return False
        return True

    @contextlib.contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        session = Session(engine, expire_on_commit=False)
        with _reported(), self._guard.inside(), session, session.begin():
            yield session


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise StoreUnavailable(f"the database failed: {error.orig}") from error
