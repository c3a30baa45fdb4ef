"""The 202 response of a request that queues a job."""

from fastapi.responses import JSONResponse

from app.http.schemas import ResponseModel

ACCEPTED = 202


def accepted(view: ResponseModel, location: str) -> JSONResponse:
    """Return a 202 response with the created resource and its URL."""
    return JSONResponse(view.model_dump(mode="json"), ACCEPTED, headers={"Location": location})
