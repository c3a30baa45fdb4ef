"""The HTTP interface: routes, request and response schemas, problems and the dashboard."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names
from rankery.server_package import require_server_package

# Another package named `core` would be found first, and lack what is imported from it.
require_server_package()

if TYPE_CHECKING:
    from app.application import create_app
    from app.settings import ApiSettings

__all__ = ["ApiSettings", "create_app"]
# Settings are read by processes that need nothing else of the package.
__getattr__ = lazy_names(__name__, {"create_app": "app.application", "ApiSettings": "app.settings"})
