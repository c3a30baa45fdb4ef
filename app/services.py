"""The services that routes share, created at startup."""

from dataclasses import dataclass
from typing import Annotated

import structlog
from fastapi import Depends, Request

from app.auth.authenticator import Authenticator
from app.events.feed import EventFeed
from app.http.caching import ResponseCache
from app.http.caller import caller_of
from app.http.expensive_reads import CallersReads, ExpensiveReads
from app.lifecycle.measured_storage import StorageMeasurements
from app.monitoring.metrics import Metrics
from app.monitoring.readiness import Readiness
from app.scoring.explanations import Explanations, StoredModels
from app.scoring.samples import Samples
from app.scoring.served_models import ServedModels
from app.settings import ApiSettings
from app.webhooks.delivery import Deliverer
from app.webhooks.secrets import SecretCipher
from core.store import Job, Store
from core.store.wakeups import WakeUps

_log = structlog.stdlib.get_logger("rankery.jobs")


@dataclass(frozen=True)
class Services:
    """The shared services of an application.

    Attributes:
        settings: Settings of this process.
        store: Rows and artifacts.
        wake_ups: Tells workers that a job is waiting; never fails.
        models: The models that score.
        stored_models: Models with all that their files hold, for inspection.
        explanations: Says how their scores come about.
        samples: Keeps a share of what was scored.
        response_cache: Answers to what is asked again and again.
        expensive: Reads that take seconds of work.
        doorkeeper: Tells callers by their keys.
        metrics: What Prometheus is told.
        readiness: Checks what the service needs.
        events: Wakes those who follow events.
        cipher: Encrypts the secrets of webhooks in the database.
        deliverer: Sends events to webhooks.
        storage: What is stored, by kind.
    """

    settings: ApiSettings
    store: Store
    wake_ups: WakeUps
    models: ServedModels
    stored_models: StoredModels
    explanations: Explanations
    samples: Samples
    response_cache: ResponseCache
    expensive: ExpensiveReads
    authenticator: Authenticator
    metrics: Metrics
    readiness: Readiness
    events: EventFeed
    cipher: SecretCipher
    deliverer: Deliverer
    storage: StorageMeasurements

    def submitted(self, *jobs: Job) -> None:
        """Log committed jobs and wake workers for them."""
        for job in jobs:
            _log.info("job.submitted", job_id=job.id, kind=job.kind)
            self.wake_ups.send(job.id, job.kind)


def services_of(request: Request) -> Services:
    """Return the services of the application that handles a request."""
    services: Services = request.app.state.services
    return services


async def _services(request: Request) -> Services:
    # FastAPI hands whatever is not async to a thread, which costs more than all that happens here.
    return services_of(request)


async def _reads_of_caller(request: Request) -> CallersReads:
    return CallersReads(services_of(request).expensive, caller_of(request.scope))


UseServices = Annotated[Services, Depends(_services)]
UseExpensive = Annotated[CallersReads, Depends(_reads_of_caller)]
