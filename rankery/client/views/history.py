"""Learning curves: one value an iteration for each metric on each data."""

from rankery.client.schemas import answers


class History(answers.JobHistory):
    """Learning curves: one value an iteration for each metric on each data."""
