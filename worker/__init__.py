"""Celery worker, whose one task claims a job from the store and runs it."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names
from rankery.server_package import require_server_package

# Python would import another package named `core` that comes first on its path.
require_server_package()

if TYPE_CHECKING:
    from worker.application import make_celery
    from worker.lanes import run
    from worker.settings import WorkerSettings

# Some processes import the settings alone.
__getattr__ = lazy_names(__name__)
