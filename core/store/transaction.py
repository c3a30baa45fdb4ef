"""A transaction with its repositories."""

from dataclasses import replace

from sqlalchemy.orm import Session

from core.jobs import JobSpec
from core.store import engines
from core.store.repositories.aliases import Aliases
from core.store.repositories.api_keys import ApiKeys
from core.store.repositories.artifacts import ArtifactDigests, NeededArtifacts
from core.store.repositories.attempts import Attempts
from core.store.repositories.audit import Audit
from core.store.repositories.comparisons import Comparisons
from core.store.repositories.counters import Counters
from core.store.repositories.datasets import Datasets
from core.store.repositories.deliveries import Deliveries
from core.store.repositories.drift import DriftReports, SampledScores
from core.store.repositories.evaluations import Evaluations
from core.store.repositories.events import Events
from core.store.repositories.experiments import Experiments
from core.store.repositories.gates import Gates
from core.store.repositories.idempotency import Idempotency
from core.store.repositories.inspections import Inspections
from core.store.repositories.jobs import Jobs
from core.store.repositories.models import Models
from core.store.repositories.projects import NO_LABELS, Labels, Projects
from core.store.repositories.quotas import Quotas
from core.store.repositories.rankings import Rankings
from core.store.repositories.schedules import Schedules
from core.store.repositories.search import Search
from core.store.repositories.sessions import Sessions
from core.store.repositories.statistics import Statistics, StorageUsage
from core.store.repositories.studies import Studies
from core.store.repositories.uploads import Uploads
from core.store.repositories.webhooks import Webhooks
from core.store.repositories.workers import Workers
from core.store.tables import Job
from core.store.trash.expired import ExpiredObjects
from core.store.trash.trash import Trash


class Transaction:
    """A database transaction with its repositories.

    Attributes:
        datasets: Datasets.
        jobs: Jobs.
        models: Models.
        aliases: Movable names of models.
        gates: Promotion gates of aliases.
        evaluations: Evaluations.
        rankings: Rankings.
        comparisons: Comparisons.
        inspections: Inspections.
        studies: Studies and their trials.
        uploads: Resumable uploads.
        experiments: Experiments and their trainings.
        schedules: Schedules and their runs.
        drift_reports: Drift reports.
        score_samples: Artifacts with scoring requests.
        idempotency: Responses kept for repeated requests.
        quotas: Limits of API keys.
        api_keys: API keys.
        sessions: Browser sessions.
        audit: Audit log.
        counters: Monotonic counters.
        events: Events.
        webhooks: Webhooks.
        deliveries: Deliveries of events to webhooks.
        attempts: Attempts at jobs.
        statistics: Numbers of objects for monitoring.
        search: Search by id or name.
        workers: Workers.
        projects: Project assignment and counts.
        digests: Checksums of artifacts.
        needed: Artifacts that rows need.
        trash: Deleted objects that can be restored.
        expired: Objects that are older than retention allows.
        usage: Numbers of stored objects by kind.
        announced: Whether to count a change for those who wait for one. False for what no page shows, such as
            the renewal of a lease.
    """

    def __init__(self, session: Session) -> None:
        self.announced = True
        self._session = session
        self.datasets = Datasets(session)
        self.counters = Counters(session)
        self.events = Events(session)
        self.attempts = Attempts(session, self.counters)
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
        self.statistics = Statistics(session)
        self.search = Search(session, self.models)
        self.workers = Workers(session, self.events)
        self.projects = Projects(session)
        self.digests = ArtifactDigests(session)
        self.needed = NeededArtifacts(session)
        self.trash = Trash(session)
        self.expired = ExpiredObjects(session)
        self.usage = StorageUsage(session)

    def finish(self) -> None:
        """Write what is written just before the commit: counters, then events."""
        self._session.flush()
        if self.events.any_added or (self.announced and engines.has_written(self._session.connection())):
            self.counters.add_change()
        self.counters.write()
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
