"""Whether the process lives, and whether the parts it needs answer."""

from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse, Response

from app.documentation import problems
from app.problems import not_ready
from app.schemas.base import ResponseModel
from app.services import UseServices

router = APIRouter(tags=["health"])


class Health(ResponseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(ResponseModel):
    """Every part answers."""

    status: Literal["ready"] = "ready"
    checks: dict[str, Literal["ok"]] = Field(examples=[{"database": "ok", "storage": "ok", "broker": "ok"}])


@router.get("/healthz", summary="Is the process alive")
def healthz() -> Health:
    """Answer as long as the process does, whatever else is down."""
    return Health()


@router.get("/readyz", summary="Is the service ready", response_model=Readiness, responses=problems())
def readyz(services: UseServices) -> Response:
    """Check the database, the artifact storage and the broker."""
    return readiness(
        {
            "database": services.store.ping(),
            "storage": services.store.artifacts.ping(),
            "broker": services.wake_ups.ping(),
        }
    )


def readiness(answers: Mapping[str, bool]) -> Response:
    """Answer 200 when every part does, else the problem that names those which do not."""
    down = [name for name, answering in answers.items() if not answering]
    if down:
        return not_ready(down)
    return JSONResponse(Readiness(checks=dict.fromkeys(answers, "ok")).model_dump())
