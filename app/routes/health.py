"""Whether the process lives, and whether the parts it needs answer."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse, Response

from app.documentation import problems
from app.probes import Probe
from app.problems import not_ready
from app.schemas.base import ResponseModel
from app.services import UseServices
from core.errors import StoreUnavailable

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
    damaged_artifacts: list[str] = Field(
        default=[],
        description="Keys of stored bytes that were found damaged, the latest first; not used, while the"
        " rest of the service works",
        examples=[[]],
    )


# Both run on the event loop, because all threads that serve requests may be waiting for a part that hangs.
@router.get("/healthz", summary="Is the process alive")
async def healthz() -> Health:
    """Answer as long as the process does, whatever else is down."""
    return Health()


@router.get("/readyz", summary="Is the service ready", response_model=Readiness, responses=problems())
async def readyz(services: UseServices) -> Response:
    """Ask the database, the artifact storage and the broker, all at once and for two seconds at most."""
    names, probes = zip(*services.parts.items(), strict=True)
    faults, damaged = await asyncio.gather(asyncio.gather(*map(_fault, probes)), _damaged(services.damage))
    return readiness(dict(zip(names, faults, strict=True)), damaged)


def readiness(faults: Mapping[str, str | None], damaged: Sequence[str] = ()) -> Response:
    """Answer 200 when nothing is wrong with any part, else the problem that names those which are down.

    Args:
        faults: What is wrong with each part, None for nothing.
        damaged: Keys of damaged artifacts, which keep no part from working.
    """
    down = [f"the {name} {fault}" for name, fault in faults.items() if fault is not None]
    if down:
        return not_ready([*down, f"damaged artifacts: {', '.join(damaged)}"] if damaged else down)
    ready = Readiness(checks=dict.fromkeys(faults, "ok"), damaged_artifacts=list(damaged))
    return JSONResponse(ready.model_dump())


async def _damaged(probe: Probe[list[str]]) -> list[str]:
    try:
        return await probe.answer(TIMEOUT_SECONDS)
    except (TimeoutError, StoreUnavailable):
        return []  # the check of the database says why


async def _fault(probe: Probe[str | None]) -> str | None:
    try:
        return await probe.answer(TIMEOUT_SECONDS)
    except TimeoutError:
        return TOO_SLOW
