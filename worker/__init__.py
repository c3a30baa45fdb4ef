"""The Celery worker, whose one task claims a job from the store and runs it."""

from rankery.server_package import require_server_package

# The imports below would find another package named `core`, and fail on what it lacks.
require_server_package()

from worker.application import make_celery  # noqa: E402
from worker.process.lanes import run  # noqa: E402
from worker.settings import WorkerSettings  # noqa: E402

__all__ = ["WorkerSettings", "make_celery", "run"]
