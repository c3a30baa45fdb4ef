"""Compare two datasets of one job: features, label scales and leakage."""

from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np

from core.data import RankingDataset
from core.data.categories import Categories
from core.data.feature_alignment import AbsentFeatures, unseen_values
from core.data.labels import label_text
from core.data.trec import JudgedRun
from core.doctor.overlap import document_findings, query_findings
from core.doctor.report import MAX_EXAMPLES, Finding, by_severity, query_examples_of_documents
from core.ranges import use_threads
from core.types import Float32Array, Int64Array

_MAX_GRADES = 20  # more distinct labels are treated as counts or measurements
_MIN_EXPECTED_DOCUMENTS = 20  # a label expected in this many documents is not absent by chance
_MAX_LABEL_RATIO = 2.0  # ratio of the largest labels above which the scales differ
_MAX_LISTED_FEATURES = 3  # features with unseen categories whose values are listed
_ABSENT_FEATURES_ADVICE = (
    "The model is evaluated without these features. They count as missing values, or as 0 if all features are"
    " numbered as in LETOR files, which may omit zeros. Check that the columns have the same names."
)


def compare(
    train: RankingDataset,
    other: RankingDataset,
    role: str,
    *,
    threads: int = 1,
    compares_labels: bool = True,
    compares_documents: bool = True,
    query_of: Callable[[str], str] | None = None,
    left_out: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Return findings on two datasets of a job: different features or labels, and leakage.

    Args:
        role: Role of `other`: "validation" or "test".
        compares_labels: Whether both should have labels on one scale; a model that learns clicks is tested on
            judgments.
        compares_documents: Whether shared documents are a leak. Lists of one query share documents without
            a leak.
        query_of: If query ids of the training data are ids of result lists, the query of each list by its id.
        left_out: Features that the job leaves out of the training data, which `other` may have.

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
            *feature_findings(train, other, role, left_out),
            *(document_findings(train, other, role, query_of) if compares_documents else ()),
            *query_findings(train, other, role),
            *(label_findings(train, other, role) if compares_labels else ()),
            *unseen_category_findings(
                other, train.feature_names, train.categories, f"of the {role} data", "the training data"
            ),
        )
    )


def feature_findings(
    train: RankingDataset, other: RankingDataset, role: str, left_out: Collection[str] = ()
) -> Iterator[Finding]:
    """Report features that one of the datasets lacks, except those left out of the training data."""
    absent = _features_only_in(train, other)
    added = tuple(name for name in _features_only_in(other, train) if name not in left_out)
    if absent:
        yield Finding.of_share(
            "features-absent",
            "warning",
            (len(absent), train.n_features, "features"),
            (f"is not in the {role} data", f"are not in the {role} data"),
            where="of the training data",
            advice=_ABSENT_FEATURES_ADVICE,
            examples=absent[:MAX_EXAMPLES],
            example_kind="feature",
        )
    if added:
        yield Finding.of_share(
            "features-added",
            "warning",
            (len(added), other.n_features, "features"),
            ("is not in the training data", "are not in the training data"),
            where=f"of the {role} data",
            advice="A model cannot use features that it was not trained on. Check that the columns of both"
            " datasets have the same names.",
            examples=added[:MAX_EXAMPLES],
            example_kind="feature",
        )


def absent_feature_findings(absent: AbsentFeatures, model: str) -> Iterator[Finding]:
    """Report the features that a model uses and that a dataset lacks."""
    if absent.names:
        yield Finding.of_share(
            "features-absent",
            "error" if absent.are_majority else "warning",
            (len(absent.names), absent.used, "features"),
            ("is not in the dataset", "are not in the dataset"),
            where=f"that {model} uses",
            advice=_ABSENT_FEATURES_ADVICE,
            examples=absent.names[:MAX_EXAMPLES],
            example_kind="feature",
        )


def unseen_category_findings(
    dataset: RankingDataset,
    feature_names: Collection[str],
    categories: Mapping[str, Categories],
    where: str,
    known_to: str,
) -> Iterator[Finding]:
    """Report values of categorical features that are unknown to a model.

    Args:
        feature_names: Features of the model or of its training data; others are left out.
        where: Origin of the values, for the sentence: "of the test data".
        known_to: Origin of the categories, for the sentence: "the training data".
    """
    unseen = unseen_values(dataset, feature_names, categories)
    if not unseen:
        return
    documents = sum(each.documents for each in unseen)
    categorical = categories.keys() | dataset.categories.keys()
    n_categorical = len(categorical.intersection(feature_names, dataset.feature_names))
    total = dataset.n_documents * n_categorical
    listed = unseen[:_MAX_LISTED_FEATURES]
    examples = "; ".join(f"{each.feature}: {', '.join(each.examples)}" for each in listed)
    yield Finding.of_share(
        "unseen-categories",
        "warning" if 2 * documents > total else "info",
        (documents, total, "values of categorical features"),
        (f"is unknown to {known_to}", f"are unknown to {known_to}"),
        where=where,
        advice=f"These values count as missing, and categorical splits send missing values to the right"
        f" child. Examples: {examples}. Check that they are spelled as in the training data.",
        examples=tuple(each.feature for each in unseen[:MAX_EXAMPLES]),
        example_kind="feature",
    )


def run_findings(joined: JudgedRun) -> Iterator[Finding]:
    """Report queries without a document of a run, and documents of a run that are not judged."""
    if joined.queries_without_results:
        yield Finding.of_share(
            "queries-without-results",
            "warning",
            (joined.queries_without_results, len(joined.query_ids), "queries"),
            ("has no document in the ranking", "have no document in the ranking"),
            where="of the dataset",
            advice="Most metrics of these queries are 0. Check that their ids are spelled as in the dataset,"
            " or compare on a dataset of the ranked queries only.",
        )
    unjudged = np.flatnonzero(joined.is_unjudged)
    if not len(unjudged):
        return
    retrieved = int(np.count_nonzero(joined.is_retrieved))
    judged = retrieved - len(unjudged)
    yield Finding.of_share(
        "unjudged-documents",
        "warning" if 2 * judged < retrieved else "info",
        (judged, retrieved, "retrieved documents"),
        ("is judged", "are judged"),
        advice="Most metrics count unjudged documents as not relevant; bpref and ndcg(judged)@10 ignore them."
        " If more documents were judged, check that the ids are spelled as in the dataset.",
        examples=tuple(joined.document_ids.take(unjudged[:MAX_EXAMPLES])),
        example_kind="document",
    )


def label_findings(train: RankingDataset, other: RankingDataset, role: str) -> Iterator[Finding]:
    """Report labels on different scales.

    At most 20 distinct labels are compared as grades. No label may be new, and no label that is expected in
    20 or more documents may be absent. More labels are counts or measurements, compared by their maximum.
    """
    (train_labels, train_counts), (other_labels, other_counts) = _label_counts(train), _label_counts(other)
    if not len(train_labels) or not len(other_labels):
        return
    if max(len(train_labels), len(other_labels)) > _MAX_GRADES:
        lowest, highest = sorted((float(train_labels[-1]), float(other_labels[-1])))
        unexpected = other_labels > train_labels[-1]
        differs = highest > _MAX_LABEL_RATIO * max(lowest, 0.0)
    else:
        expected = train_counts * (other_counts.sum() / train_counts.sum())
        unexpected = ~np.isin(other_labels, train_labels)
        differs = bool(
            unexpected.any()
            or (expected[~np.isin(train_labels, other_labels)] >= _MIN_EXPECTED_DOCUMENTS).any()
        )
    if not differs:
        return
    affected = np.isin(other.labels, other_labels[unexpected])
    yield Finding(
        code="label-scale",
        severity="warning",
        title=f"The labels of the {role} data are {_format_labels(other_labels)}; the labels of the training"
        f" data are {_format_labels(train_labels)}",
        advice="Metrics on the two datasets cannot be compared, and a model is trained and evaluated on"
        " different preferences. Convert the labels to one scale, for example with label_map.",
        count=int(affected.sum()),
        total=other.n_documents,
        unit="documents",
        examples=query_examples_of_documents(other, affected),
    )


def _features_only_in(dataset: RankingDataset, other: RankingDataset) -> tuple[str, ...]:
    """Return the features of a dataset that another lacks."""
    others = set(other.feature_names)
    return tuple(name for name in dataset.feature_names if name not in others)


def _label_counts(dataset: RankingDataset) -> tuple[Float32Array, Int64Array]:
    labels, counts = np.unique(dataset.labels[~np.isnan(dataset.labels)], return_counts=True)
    return labels, counts


def _format_labels(labels: Float32Array) -> str:
    if len(labels) > _MAX_GRADES:
        return f"{label_text(labels[0])} to {label_text(labels[-1])}"
    return ", ".join(label_text(label) for label in labels.tolist())
