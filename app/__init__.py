"""The HTTP interface: routes, request and response schemas, problems and the dashboard."""

from app.application import create_app
from app.settings import ApiSettings

__all__ = ["ApiSettings", "create_app"]
