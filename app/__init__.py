"""The HTTP interface: routes, request and response schemas, problems and the dashboard."""

from rankery.server_package import require_server_package

# The imports below would find another package named `core`, and fail on what it lacks.
require_server_package()

from app.application import create_app  # noqa: E402
from app.settings import ApiSettings  # noqa: E402

__all__ = ["ApiSettings", "create_app"]
