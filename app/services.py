"""What the application is composed of, made once when it starts."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from app.scoring import ForestCache
from app.settings import ApiSettings
from core.store import Store
from core.store.wakeups import WakeUps


@dataclass(frozen=True)
class Services:
    """The open parts that routes work with.

    Attributes:
        settings: Settings of this process.
        store: Rows and artifacts.
        wake_ups: Tells workers that a job is waiting; never fails.
        forests: Parsed models, kept for scoring.
    """

    settings: ApiSettings
    store: Store
    wake_ups: WakeUps
    forests: ForestCache


def services_of(request: Request) -> Services:
    """Return the services of the application that handles a request."""
    services: Services = request.app.state.services
    return services


UseServices = Annotated[Services, Depends(services_of)]
