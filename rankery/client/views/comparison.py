"""Systems compared on the queries of one dataset."""

from rankery.client.schemas import answers


class ComparisonView(answers.Comparison):
    """Systems compared on the queries of one dataset."""
