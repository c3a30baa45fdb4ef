"""A judged dataset."""

from rankery.client.schemas import answers


class DatasetView(answers.Dataset):
    """A judged dataset."""
