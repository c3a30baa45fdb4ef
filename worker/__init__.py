"""The Celery worker, whose one task claims a job from the store and runs it."""

from worker.application import make_celery
from worker.process.lanes import run
from worker.settings import WorkerSettings

__all__ = ["WorkerSettings", "make_celery", "run"]
