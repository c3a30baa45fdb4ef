"""A version of a model."""

from rankery.client.schemas import answers


class ModelView(answers.Model):
    """A version of a model."""
