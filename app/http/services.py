"""Services of an application: registered by their type at startup, injected into routes."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import structlog
from fastapi import Depends, FastAPI, Request

from app.settings import ApiSettings
from core.store import Job, Store
from core.store.wakeups import WakeUps

_log = structlog.stdlib.get_logger("rankery.jobs")

Service = TypeVar("Service")


def register(application: FastAPI, *services: object) -> None:
    """Register the services of an application, each by its type."""
    application.state.services = {type(service): service for service in services}


def registered(application: FastAPI, kind: type[Service]) -> Service:
    """Return the service of a type."""
    service: Service = application.state.services[kind]
    return service


def injected(kind: type[Service]) -> Any:
    """Return the FastAPI dependency that injects the service of a type.

    The feature that owns the service declares it once: `UseFeed = Annotated[EventFeed, injected(EventFeed)]`.
    """

    # Async, as FastAPI runs other functions in a thread, which costs more than the lookup.
    async def find(request: Request) -> Service:
        return registered(request.app, kind)

    return Depends(find)


@dataclass(frozen=True)
class Services:
    """The services that all features share.

    Attributes:
        wake_ups: Wakes workers for submitted jobs; never fails.
    """

    settings: ApiSettings
    store: Store
    wake_ups: WakeUps

    def wake_workers(self, *jobs: Job) -> None:
        """Log committed jobs and wake workers for them."""
        for job in jobs:
            _log.info("job.submitted", job_id=job.id, kind=job.kind)
            self.wake_ups.send(job.id, job.kind)


def services_of(request: Request) -> Services:
    """Return the shared services of the application that handles a request."""
    return registered(request.app, Services)


UseServices = Annotated[Services, injected(Services)]
