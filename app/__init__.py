"""The HTTP interface: routes, request and response schemas, problems and the dashboard."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names
from rankery.server_package import require_server_package

# Fail early if another installed package named `core` shadows the server's.
require_server_package()

if TYPE_CHECKING:
    from app.application import create_app
    from app.settings import ApiSettings

# Import lazily: some processes need only the settings.
__getattr__ = lazy_names(__name__)
