"""The HTTP interface: routes, request and response schemas, problems and the dashboard."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankery.server_package import require_server_package

# Another package named `core` would be found first, and lack what is imported from it.
require_server_package()

if TYPE_CHECKING:
    from app.application import create_app
    from app.settings import ApiSettings

__all__ = ["ApiSettings", "create_app"]
_PLACES = {"create_app": "app.application", "ApiSettings": "app.settings"}


def __getattr__(name: str) -> Any:
    # Its settings are read by processes that have no use for the rest.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
