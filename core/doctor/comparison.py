"""Looking two datasets of one job over."""

from core.data import RankingDataset
from core.doctor.agreement import feature_findings, label_findings, unseen_category_findings
from core.doctor.overlap import document_findings, query_findings
from core.doctor.report import Finding, by_severity
from core.ranges import use_threads


def compare(
    train: RankingDataset, other: RankingDataset, role: str, *, threads: int = 1
) -> tuple[Finding, ...]:
    """Look over two datasets that a job uses together: do they fit, does one give the other away?

    Args:
        train: What a model learns from.
        other: What it is judged on.
        role: What the other is used for: "validation" or "test".
        threads: Threads to use.

    Returns:
        Warnings before information; nothing where all is well.

    Example:
        >>> from core.data import synthetic_dataset
        >>> train, test = synthetic_dataset(9, seed=1), synthetic_dataset(9, seed=2)
        >>> [finding.severity for finding in compare(train, test, "test")]  # both call their queries 1 to 9
        ['info']
    """
    use_threads(threads)
    return by_severity(
        (
            *feature_findings(train, other, role),
            *document_findings(train, other, role),
            *query_findings(train, other, role),
            *label_findings(train, other, role),
            *unseen_category_findings(other, train.categories, f"of the {role} data", "the training data"),
        )
    )
