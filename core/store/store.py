"""The store: rows in transactions, bytes under keys."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Self

from sqlalchemy import Engine, select
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from core.errors import StoreFull, StoreUnavailable
from core.jobs import JobSpec
from core.store import engines, schema
from core.store.artifacts.artifacts import Artifacts
from core.store.artifacts.inventory import NeededArtifacts
from core.store.artifacts.verified_artifacts import VerifiedArtifacts
from core.store.faults import failure_reason
from core.store.forking import ForkGuard
from core.store.lifecycle.retention import Retained
from core.store.lifecycle.storage import Counts
from core.store.lifecycle.trash import Trash
from core.store.repositories.aliases import Aliases
from core.store.repositories.api_keys import ApiKeys
from core.store.repositories.artifact_digests import ArtifactDigests
from core.store.repositories.attempts import Attempts
from core.store.repositories.audit import Audit
from core.store.repositories.comparisons import Comparisons
from core.store.repositories.datasets import Datasets
from core.store.repositories.deliveries import Deliveries
from core.store.repositories.drift import DriftReports, SampledScores
from core.store.repositories.evaluations import Evaluations
from core.store.repositories.events import Events
from core.store.repositories.experiments import Experiments
from core.store.repositories.figures import Figures
from core.store.repositories.gates import Gates
from core.store.repositories.idempotency import Idempotency
from core.store.repositories.inspections import Inspections
from core.store.repositories.jobs import Jobs
from core.store.repositories.models import Models
from core.store.repositories.projects import NO_LABELS, Labels, Projects
from core.store.repositories.quotas import Quotas
from core.store.repositories.rankings import Rankings
from core.store.repositories.revisions import Revisions
from core.store.repositories.schedules import Schedules
from core.store.repositories.search import Search
from core.store.repositories.sessions import Sessions
from core.store.repositories.studies import Studies
from core.store.repositories.tallies import Tallies
from core.store.repositories.uploads import Uploads
from core.store.repositories.webhooks import Webhooks
from core.store.repositories.workers import Workers
from core.store.settings import StoreSettings
from core.store.tables import Job, Worker
from core.store.visibility import select_visible
from core.store.write_turn import WriteTurn


class Transaction:
    """A database transaction with its repositories.

    Attributes:
        datasets: The datasets.
        jobs: The jobs.
        models: The models.
        aliases: The movable names of models.
        gates: What stands before a move of an alias.
        evaluations: The evaluations.
        rankings: The rankings.
        comparisons: The comparisons.
        inspections: The inspections.
        studies: The studies and their trials.
        uploads: The resumable uploads.
        experiments: The experiments and their trainings.
        schedules: The schedules and their runs.
        drift_reports: The reports of drift.
        score_samples: The artifacts with scoring requests.
        idempotency: The answers kept for repeated requests.
        quotas: What a key may have at a time.
        api_keys: What lets callers in.
        sessions: The browsers that signed in.
        audit: Who changed what.
        tallies: What is counted for good.
        events: What happened.
        webhooks: Where events are sent.
        deliveries: The events on their way there.
        attempts: The attempts at jobs.
        figures: How much there is of everything.
        search: Finds anything by id or name.
        workers: Who carries the jobs out.
        projects: How rows come to projects, and how many are in each.
        digests: The checksums of artifacts.
        needed: The artifacts that rows need.
        trash: What was deleted and can be restored.
        retained: What is older than it is to be kept.
        stored: How much there is of what takes space.
        announced: Whether to count a change that followers are told of. False for what no page shows, such as
            the renewal of a lease.
    """

    def __init__(self, session: Session) -> None:
        self.announced = True
        self._session = session
        self.datasets = Datasets(session)
        self.tallies = Tallies(session)
        self.events = Events(session)
        self.attempts = Attempts(session, self.tallies)
        self.jobs = Jobs(session, self.attempts)
        self.models = Models(session)
        self.aliases = Aliases(session, self.models, self.events)
        self.gates = Gates(session)
        self.evaluations = Evaluations(session)
        self.rankings = Rankings(session)
        self.comparisons = Comparisons(session)
        self.inspections = Inspections(session)
        self.studies = Studies(session, self.jobs, self.events)
        self.jobs.on_ending(self.events.job_ended)
        self.webhooks = Webhooks(session, self.events)
        self.deliveries = Deliveries(session)
        self.experiments = Experiments(session, self.jobs)
        self.uploads = Uploads(session)
        self.schedules = Schedules(session)
        self.drift_reports = DriftReports(session)
        self.score_samples = SampledScores(session)
        self.idempotency = Idempotency(session)
        self.quotas = Quotas(session)
        self.api_keys = ApiKeys(session)
        self.sessions = Sessions(session)
        self.audit = Audit(session)
        self.figures = Figures(session)
        self.search = Search(session, self.models)
        self.workers = Workers(session, self.events)
        self.projects = Projects(session)
        self.digests = ArtifactDigests(session)
        self.needed = NeededArtifacts(session)
        self.trash = Trash(session)
        self.retained = Retained(session)
        self.stored = Counts(session)

    def finish(self) -> None:
        """Write what is written just before the commit: counters, then events."""
        self._session.flush()
        if self.events.any_added or (self.announced and engines.has_written(self._session.connection())):
            self.tallies.add_change()
        self.tallies.write()
        self.events.write()

    def enqueue(self, spec: JobSpec, key_id: str | None = None, labels: Labels = NO_LABELS) -> Job:
        """Queue a job, for an API key where there is one, in the project given or inherited.

        Raises:
            InvalidInput: As `Projects.of_job`.
            NotFound: One of its datasets does not exist.
        """
        project = self.projects.of_job(spec, labels.project)
        return self.jobs.add(
            spec.kind,
            spec.to_json(),
            dataset_ids=spec.dataset_ids.values(),
            priority=spec.queue_priority,
            key_id=key_id,
            labels=replace(labels, project=project),
        )


class Store:
    """The database and the artifacts.

    Safe to share between threads. A process may fork with a store open: the connections are closed before,
    and the child opens its own. It must not fork inside a transaction of its own.

    Attributes:
        artifacts: The bytes.
        verified: The same, compared with their checksums before they are used.
    """

    def __init__(self, engine: Engine, artifacts: Artifacts, lock_seconds: float) -> None:
        self.artifacts = artifacts
        self.verified = VerifiedArtifacts(self)
        self._engine = engine
        self._write_turn = WriteTurn(engine, lock_seconds)
        self._reading = engines.for_reading(engine)
        self._probing = engines.for_writing(engine, engines.PROBE_LOCK_SECONDS)
        self._revisions = Revisions(engine)
        self._guard = ForkGuard(self._disconnect)

    @classmethod
    def open(cls, settings: StoreSettings, *, lock_seconds: int = engines.LOCK_SECONDS) -> Self:
        """Open the store of the settings; call `migrate` before the first use.

        Args:
            settings: Where it is.
            lock_seconds: How long a write waits for a lock that another transaction holds.

        Raises:
            StoreUnavailable: A URL cannot be understood or the folder cannot be made.
        """
        try:
            artifacts = Artifacts(settings.storage_url, settings.storage_patience_seconds)
            return cls(engines.open_engine(settings.database_url, lock_seconds), artifacts, lock_seconds)
        except OSError as error:
            raise StoreUnavailable(f"the data folder cannot be used: {error}") from error

    def migrate(self) -> None:
        """Migrate the database; safe for concurrent processes.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with _reported(), self._guard.inside():
            schema.upgrade(self._engine)

    def close(self) -> None:
        """Close the connections; those in use close when their transactions end."""
        engines.end_pooling(self._engine)
        self._disconnect()

    def _disconnect(self) -> None:
        self._revisions.close()
        self._engine.dispose()

    @contextlib.contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Open a read-write transaction, committed on success and rolled back on an exception.

        On SQLite one such transaction runs at a time; others wait for `lock_seconds`. Rows read inside stay
        usable after the block.

        Raises:
            StoreUnavailable: The database cannot be reached or is busy for too long.
        """
        with self._guard.inside(), self._write_turn.taken() as engine, self._session(engine) as session:
            tx = Transaction(session)
            yield tx
            tx.finish()

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a read-only snapshot transaction.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with self._guard.inside(), self._session(self._reading) as session:
            yield Transaction(session)

    @property
    def notifies_immediately(self) -> bool:
        """Whether `revision` never blocks, so that an event loop may call it."""
        return self._engine.dialect.name == "sqlite"

    def revision(self) -> str:
        """Return the revision of the database, which changes with every commit.

        It costs far less than any look at what is on record. Compare only what one store has named.

        Raises:
            StoreUnavailable: The database cannot be reached.
        """
        with _reported(), self._guard.inside():
            return self._revisions.latest()

    def read_fault(self) -> str | None:
        """Check that the database can be read; return its fault without addresses, or None."""
        try:
            with self._guard.inside(), self._probing.connect() as connection:
                connection.execute(select(Worker.name).limit(1))
        except (OperationalError, InterfaceError, InternalError) as error:
            return failure_reason(error)
        return None

    def fault(self) -> str | None:
        """Check that the database accepts writes; return its fault without addresses, or None."""
        try:
            with self._guard.inside(), self._probing.connect() as connection:
                engines.take_write_lock(connection)
        except (OperationalError, InterfaceError, InternalError) as error:
            if engines.is_locked(error):
                return f"takes no writes: its lock has been held for {engines.PROBE_LOCK_SECONDS} s"
            return failure_reason(error)
        return None

    @contextlib.contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        session = Session(engine, expire_on_commit=False)
        select_visible(session)
        with _reported(), session, session.begin():
            yield session


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError, InternalError) as error:
        kind = StoreFull if engines.is_full(error) else StoreUnavailable
        raise kind(f"the database {engines.public_reason(error)}") from error
    except PoolTimeout as error:
        raise StoreUnavailable("the database has too many connections from here") from error
