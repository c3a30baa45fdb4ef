"""Schedules: due times, and the training of a run."""

from core.schedules.cron import Cron
from core.schedules.training import TRAININGS, dataset_names, training_of_run

__all__ = ["TRAININGS", "Cron", "dataset_names", "training_of_run"]
