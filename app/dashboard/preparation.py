"""What takes a moment once, done before the first request instead of in it."""

from fastapi import FastAPI

from app.dashboard.assets import prepare_plotly, templates


def prepare(application: FastAPI) -> None:
    """Draw up the OpenAPI document, compile the frames of the pages, compress what they load."""
    application.openapi()
    environment = templates().env
    for name in environment.list_templates():
        environment.get_template(name)
    prepare_plotly()
