"""The answer to a request whose work a worker will do."""

from fastapi.responses import JSONResponse

from app.http.schemas import ResponseModel

ACCEPTED = 202


def accepted(view: ResponseModel, location: str) -> JSONResponse:
    """Answer 202 with what was created and where to follow it."""
    return JSONResponse(view.model_dump(mode="json"), ACCEPTED, headers={"Location": location})
