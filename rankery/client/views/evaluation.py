"""A model or a ranking measured on a dataset."""

from rankery.client.schemas import answers


class EvaluationView(answers.Evaluation):
    """A model or a ranking measured on a dataset."""
