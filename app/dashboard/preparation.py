"""Prepare slow one-time work before the first request."""

from fastapi import FastAPI

from app.dashboard.assets import prepare_plotly, templates


def prepare(application: FastAPI) -> None:
    """Build the OpenAPI document, compile the templates and compress the static files."""
    application.openapi()
    environment = templates().env
    for name in environment.list_templates():
        environment.get_template(name)
    prepare_plotly()
