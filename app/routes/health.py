"""Whether the process lives, and whether the parts it needs answer."""

import asyncio
from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse, Response

from app.documentation import problems
from app.probes import Probe
from app.problems import not_ready
from app.schemas.base import ResponseModel
from app.services import UseServices

TIMEOUT_SECONDS = 2.0
TOO_SLOW = f"does not answer within {TIMEOUT_SECONDS:g} s"

router = APIRouter(tags=["health"])


class Health(ResponseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(ResponseModel):
    """Every part answers."""

    status: Literal["ready"] = "ready"
    checks: dict[str, Literal["ok"]] = Field(examples=[{"database": "ok", "storage": "ok", "broker": "ok"}])


# Both run on the event loop, because all threads that serve requests may be waiting for a part that hangs.
@router.get("/healthz", summary="Is the process alive")
async def healthz() -> Health:
    """Answer as long as the process does, whatever else is down."""
    return Health()


@router.get("/readyz", summary="Is the service ready", response_model=Readiness, responses=problems())
async def readyz(services: UseServices) -> Response:
    """Ask the database, the artifact storage and the broker, all at once and for two seconds at most."""
    names, probes = zip(*services.parts.items(), strict=True)
    faults = await asyncio.gather(*map(_fault, probes))
    return readiness(dict(zip(names, faults, strict=True)))


def readiness(faults: Mapping[str, str | None]) -> Response:
    """Answer 200 when nothing is wrong with any part, else the problem that names those which are down."""
    down = [f"the {name} {fault}" for name, fault in faults.items() if fault is not None]
    if down:
        return not_ready(down)
    return JSONResponse(Readiness(checks=dict.fromkeys(faults, "ok")).model_dump())


async def _fault(probe: Probe[str | None]) -> str | None:
    try:
        return await probe.answer(TIMEOUT_SECONDS)
    except TimeoutError:
        return TOO_SLOW
