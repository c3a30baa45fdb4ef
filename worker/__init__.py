"""The Celery worker, whose one task claims a job from the store and runs it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankery.server_package import require_server_package

# Another package named `core` would be found first, and lack what is imported from it.
require_server_package()

if TYPE_CHECKING:
    from worker.application import make_celery
    from worker.process.lanes import run
    from worker.settings import WorkerSettings

__all__ = ["WorkerSettings", "make_celery", "run"]
_PLACES = {
    "make_celery": "worker.application",
    "run": "worker.process.lanes",
    "WorkerSettings": "worker.settings",
}


def __getattr__(name: str) -> Any:
    # Its settings are read by processes that have no use for the rest.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
