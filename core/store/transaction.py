"""A transaction with its repositories."""

from dataclasses import replace

from sqlalchemy.orm import Session

from core.jobs import JobSpec
from core.store import engines, preconditions
from core.store.repositories.aliases import Aliases
from core.store.repositories.api_keys import ApiKeys
from core.store.repositories.artifacts import ArtifactRecords
from core.store.repositories.candidates import Candidates
from core.store.repositories.datasets import ClickLogs, Datasets
from core.store.repositories.events import Events
from core.store.repositories.experiments import Experiments
from core.store.repositories.interleavings import Interleavings
from core.store.repositories.job_claims import Workers
from core.store.repositories.jobs import Jobs
from core.store.repositories.models import Models
from core.store.repositories.projects import NO_LABELS, Labels, Projects
from core.store.repositories.quotas import Quotas
from core.store.repositories.requests import Audit, Idempotency
from core.store.repositories.results import Comparisons, Evaluations, Inspections, Rankings
from core.store.repositories.schedules import Schedules
from core.store.repositories.search import Search
from core.store.repositories.served import DriftReports, ServedRankings
from core.store.repositories.statistics import Counters, Statistics
from core.store.repositories.studies import Studies
from core.store.repositories.uploads import Uploads
from core.store.repositories.webhooks import Webhooks
from core.store.tables import Job
from core.store.trash.trash import Trash


class Transaction:
    """A database transaction with its repositories.

    Attributes:
        artifacts: Checksums of artifacts, and the artifacts that rows refer to.
        aliases: Movable names of models, and their promotion gates.
        served: Rankings that were served, and the events on them.
        drift: Drift reports, and the artifacts with scoring requests that they read.
        idempotency: Responses kept for repeated requests.
        search: Search by id or name.
        notifies_clients: Whether the commit counts as a change, for clients that wait for changes. False for
            changes that no page shows, such as the renewal of a lease. A commit with an event always counts.
    """

    def __init__(self, session: Session) -> None:
        self.notifies_clients = True
        self._session = session
        self.counters = Counters(session)
        self.events = Events(session)
        # Data
        self.datasets = Datasets(session)
        self.click_logs = ClickLogs(session)
        self.uploads = Uploads(session)
        self.artifacts = ArtifactRecords(session)
        # Jobs
        self.jobs = Jobs(session, self.counters)
        self.workers = Workers(session, self.events)
        # Models
        self.models = Models(session)
        self.aliases = Aliases(session, self.models, self.events)
        # Results
        self.evaluations = Evaluations(session)
        self.rankings = Rankings(session)
        self.comparisons = Comparisons(session)
        self.inspections = Inspections(session)
        self.drift = DriftReports(session)
        self.interleavings = Interleavings(session)
        self.served = ServedRankings(session)
        # Plans: each queues jobs
        self.studies = Studies(session, self.jobs, self.events)
        self.experiments = Experiments(session, self.jobs)
        self.candidates = Candidates(session, self.jobs)
        self.schedules = Schedules(session)
        self.jobs.on_ending(self.events.job_ended)  # after the studies have recorded the end
        # Access
        self.api_keys = ApiKeys(session)
        self.quotas = Quotas(session)
        self.audit = Audit(session)
        self.idempotency = Idempotency(session)
        # Events
        self.webhooks = Webhooks(session, self.events)
        # All kinds, and numbers of them
        self.projects = Projects(session)
        self.search = Search(session, self.models)
        self.trash = Trash(session)
        self.statistics = Statistics(session)

    def finish(self) -> None:
        """Write the counters, check the precondition of a change, write the events; called before the commit.

        The row that counts changes stays locked, so that no other change is committed meanwhile.
        """
        self._session.flush()
        is_change = self.events.any_added or (
            self.notifies_clients and engines.has_written(self._session.connection())
        )
        if is_change:
            self.counters.add_change()
        self.counters.write()
        if is_change:
            preconditions.require()
        self.events.write()

    def enqueue(self, spec: JobSpec, key_id: str | None = None, labels: Labels = NO_LABELS) -> Job:
        """Queue a job, in the given or inherited project.

        Raises:
            InvalidInput: See `Projects.of_job`.
            NotFound: One of its datasets or click logs does not exist.
        """
        for log_id in sorted(set(spec.click_log_ids.values())):
            self.click_logs.hold(log_id)
        project = self.projects.of_job(spec, labels.project)
        return self.jobs.add(
            spec.kind,
            spec.to_json(),
            dataset_ids=spec.dataset_ids.values(),
            priority=spec.queue_priority,
            key_id=key_id,
            labels=replace(labels, project=project),
        )
