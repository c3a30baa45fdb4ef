"""What the features do in a model's trees."""

from rankery.client.schemas import answers


class Importance(answers.ModelImportance):
    """What the features do in a model's trees."""
