"""What a model looks at, as a dataset shows it."""

from rankery.client.schemas import answers


class Inspection(answers.Inspection):
    """What a model looks at, as a dataset shows it."""
