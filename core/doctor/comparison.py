"""Compare two datasets of one job."""

from core.data import RankingDataset
from core.doctor.agreement import feature_findings, label_findings, unseen_category_findings
from core.doctor.overlap import document_findings, query_findings
from core.doctor.report import Finding, by_severity
from core.ranges import use_threads


def compare(
    train: RankingDataset, other: RankingDataset, role: str, *, threads: int = 1
) -> tuple[Finding, ...]:
    """Return findings on two datasets of a job: different features or labels, and leakage.

    Args:
        train: The training data.
        other: The validation or test data.
        role: Role of the other: "validation" or "test".
        threads: Threads to use.

    Returns:
        Warnings before information; empty without findings.

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
