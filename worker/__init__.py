"""The Celery worker, whose one task claims a job from the store and runs it."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names
from rankery.server_package import require_server_package

# Another package named `core` would be found first, and lack what is imported from it.
require_server_package()

if TYPE_CHECKING:
    from worker.application import make_celery
    from worker.lanes import run
    from worker.settings import WorkerSettings

__all__ = ["WorkerSettings", "make_celery", "run"]
# Settings are read by processes that need nothing else of the package.
__getattr__ = lazy_names(
    __name__,
    {
        "make_celery": "worker.application",
        "run": "worker.lanes",
        "WorkerSettings": "worker.settings",
    },
)
