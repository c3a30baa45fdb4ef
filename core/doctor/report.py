"""Findings and reports of the doctor, and the examples of findings."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.doctor.hashing import Flags
from core.types import Float64Array, Int64Array

MAX_EXAMPLES = 10

SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True)
class Finding:
    """A finding on a dataset or a job.

    Attributes:
        code: Stable identifier: `one-label-queries`.
        severity: "error" for unusable data, "warning" to check before a training, or "info".
        title: One sentence with the numbers.
        unit: The objects: queries, documents, features or values; for click logs also lists, pairs, users,
            impressions, rows or actions.
        examples: Some affected objects, at most 10.
        example_kind: Kind of the examples: query id, feature name or document id. For click logs also a pair
            of query and document, an action name or a user number.
    """

    code: str
    severity: str
    title: str
    advice: str
    count: int
    total: int
    unit: str
    examples: tuple[str, ...] = ()
    example_kind: str = "query"

    @classmethod
    def of_share(
        cls,
        code: str,
        severity: str,
        share: tuple[int, int, str],
        predicate: tuple[str, str],
        *,
        advice: str,
        where: str = "",
        examples: tuple[str, ...] = (),
        example_kind: str = "query",
    ) -> "Finding":
        """Create a finding on a share of objects: "1 of 9 queries has …", "All 9 queries have …".

        Args:
            code: Stable identifier.
            severity: "error", "warning" or "info".
            share: Count, total and unit.
            predicate: Predicate of the sentence, singular and plural.
            where: Origin of the objects, if ambiguous: "of the test data".

        Example:
            >>> Finding.of_share(
            ...     "odd", "info", (1204, 18919, "queries"), ("is odd", "are odd"), advice="None."
            ... ).title
            '1,204 of 18,919 queries are odd'
        """
        count, total, unit = share
        subject = f"{unit} {where}".rstrip()
        counted = f"All {total:,}" if count == total > 1 else f"{count:,} of {total:,}"
        title = f"{counted} {subject} {predicate[count != 1]}"
        return cls(code, severity, title, advice, count, total, unit, examples, example_kind)


@dataclass(frozen=True)
class FeatureProfile:
    """The profile of a feature's values.

    Attributes:
        minimum: The smallest finite value, None without finite values.
        maximum: The largest finite value, None without finite values.
        mean: The mean of the finite values, None without finite values.
        missing: Number of documents without a value (NaN).
        infinite: Number of documents whose value is infinite.
        zeros: The share of documents whose value is 0.
        constant: Whether all documents have the same value.
        constant_in_queries: Whether all documents of a query have the same value, in every query.
        ndcg_at_10: NDCG@10 of ranking by this feature alone, see `core.doctor.single_feature`; None without a
            query that distinguishes orders, and for categorical features.
        direction: Whether the feature ranks better "descending" or "ascending".
    """

    name: str
    minimum: float | None
    maximum: float | None
    mean: float | None
    missing: int
    infinite: int
    zeros: float
    constant: bool
    constant_in_queries: bool
    ndcg_at_10: float | None
    direction: str


@dataclass(frozen=True)
class Report:
    """All findings and profiles of one dataset.

    Attributes:
        findings: Errors first, then warnings, then information.
    """

    findings: tuple[Finding, ...]
    features: tuple[FeatureProfile, ...]


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by severity, most severe first; a stable sort."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def query_examples(dataset: RankingDataset, affected: Flags) -> tuple[str, ...]:
    """Return the ids of the first 10 flagged queries; flags are (n_queries,)."""
    return tuple(dataset.query_ids[query] for query in np.flatnonzero(affected)[:MAX_EXAMPLES].tolist())


def query_examples_of_documents(dataset: RankingDataset, affected: Flags) -> tuple[str, ...]:
    """Return the ids of the first 10 queries with a flagged document; flags are (n_documents,)."""
    return query_examples(dataset, np.logical_or.reduceat(affected, dataset.query_boundaries[:-1]))


def feature_examples(dataset: RankingDataset, amounts: Flags | Int64Array | Float64Array) -> tuple[str, ...]:
    """Return the names of the at most 10 features with the largest amounts above 0; ties in column order.

    Amounts are (n_features,).
    """
    order = np.argsort(-amounts.astype(np.float64), kind="stable")[:MAX_EXAMPLES]
    return tuple(dataset.feature_names[column] for column in order.tolist() if amounts[column] > 0)
