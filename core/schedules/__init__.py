"""Schedules: due times, and the training or study of a run."""

from core.schedules.cron import Cron
from core.schedules.training import STUDY, TRAININGS, dataset_names, study_of_run, training_of_run
