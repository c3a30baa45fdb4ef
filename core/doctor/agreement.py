"""Compare two datasets of one job: features, label scales and leakage."""

from collections.abc import Iterator, Mapping

import numpy as np

from core.data import RankingDataset
from core.data.categories import Categories
from core.data.fitting import AbsentFeatures, unseen_values
from core.data.labels import label_text
from core.data.trec import JudgedRun
from core.doctor.overlap import document_findings, query_findings
from core.doctor.report import MAX_EXAMPLES, Finding, by_severity, queries_of
from core.ranges import use_threads
from core.types import Float32Array, Int64Array

_GRADES = 20  # with more distinct labels, labels are counts or measurements
_EXPECTED = 20  # documents with a label; where as many are expected, their absence is not chance
_RATIO = 2.0  # of the largest labels, above which scales differ
_SHOWN = 3  # features with unseen categories whose values are listed
_ABSENT = (
    "The model is judged without them: they count as missing, and as 0 where all features are numbered as in"
    " LETOR files, which may leave out what is 0 in every row. Check that the columns have the same names."
)


def compare(
    train: RankingDataset, other: RankingDataset, role: str, *, threads: int = 1
) -> tuple[Finding, ...]:
    """Return findings on two datasets of a job: different features or labels, and leakage.

    Args:
        train: The training data.
        other: The validation or test data.
        role: Role of `other`: "validation" or "test".
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


def feature_findings(train: RankingDataset, other: RankingDataset, role: str) -> Iterator[Finding]:
    """Report features that one of the datasets lacks."""
    absent, added = _names_beyond(train, other), _names_beyond(other, train)
    if absent:
        yield Finding.of_share(
            "features-absent",
            "warning",
            (len(absent), train.n_features, "features"),
            (f"is not in the {role} data", f"are not in the {role} data"),
            where="of the training data",
            advice=_ABSENT,
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
            advice="A model cannot use what it has not learnt from. Check that the columns of both have the"
            " same names.",
            examples=added[:MAX_EXAMPLES],
            example_kind="feature",
        )


def absent_feature_findings(absent: AbsentFeatures, model: str) -> Iterator[Finding]:
    """Report the features that a model uses and that a dataset lacks.

    Args:
        absent: The absent features.
        model: Name of the model.
    """
    if absent.names:
        yield Finding.of_share(
            "features-absent",
            "error" if absent.are_most else "warning",
            (len(absent.names), absent.used, "features"),
            ("is not in the dataset", "are not in the dataset"),
            where=f"that {model} uses",
            advice=_ABSENT,
            examples=absent.names[:MAX_EXAMPLES],
            example_kind="feature",
        )


def unseen_category_findings(
    dataset: RankingDataset, categories: Mapping[str, Categories], where: str, known_to: str
) -> Iterator[Finding]:
    """Report values of categorical features that are unknown to a model.

    Args:
        dataset: The dataset, with its own categories.
        categories: Categories of the model or of its training data.
        where: Origin of the values, for the sentence: "of the test data".
        known_to: Origin of the categories, for the sentence: "the training data".
    """
    unseen = unseen_values(dataset, categories)
    if not unseen:
        return
    documents = sum(each.documents for each in unseen)
    n_categorical = sum(name in categories or name in dataset.categories for name in dataset.feature_names)
    total = dataset.n_documents * n_categorical
    shown = "; ".join(f"{each.feature}: {', '.join(each.examples)}" for each in unseen[:_SHOWN])
    yield Finding.of_share(
        "unseen-categories",
        "warning" if 2 * documents > total else "info",
        (documents, total, "values of categorical features"),
        (f"is unknown to {known_to}", f"are unknown to {known_to}"),
        where=where,
        advice=f"They count as missing, which splits on categories send right. Such are {shown}. Check that"
        " they are written as in the training data.",
        examples=tuple(each.feature for each in unseen[:MAX_EXAMPLES]),
        example_kind="feature",
    )


def unjudged_findings(joined: JudgedRun) -> Iterator[Finding]:
    """Report the share of judged documents of a run, if not all are judged."""
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
        advice="Most metrics take the others for not relevant; bpref and ndcg(judged)@10 leave them out."
        " Where more were judged, check that the ids are spelled as in the dataset.",
        examples=tuple(joined.document_ids.take(unjudged[:MAX_EXAMPLES])),
        example_kind="document",
    )


def label_findings(train: RankingDataset, other: RankingDataset, role: str) -> Iterator[Finding]:
    """Report labels on different scales.

    At most 20 distinct labels are compared as grades: no label may be new, and no label that is expected in
    20 or more documents may be absent. More labels are counts or measurements, compared by their maximum.
    """
    (ours, our_counts), (theirs, their_counts) = _label_counts(train), _label_counts(other)
    if not len(ours) or not len(theirs):
        return
    if max(len(ours), len(theirs)) > _GRADES:
        lowest, highest = sorted((float(ours[-1]), float(theirs[-1])))
        strange = theirs > ours[-1]
        differs = highest > _RATIO * max(lowest, 0.0)
    else:
        expected = our_counts * (their_counts.sum() / our_counts.sum())
        strange = ~np.isin(theirs, ours)
        differs = bool(strange.any() or (expected[~np.isin(ours, theirs)] >= _EXPECTED).any())
    if not differs:
        return
    concerned = np.isin(other.labels, theirs[strange])
    yield Finding(
        code="label-scale",
        severity="warning",
        title=f"The labels of the {role} data are {_written(theirs)}, those of the training data"
        f" {_written(ours)}",
        advice="Metrics on the two cannot be compared, and a model learns other preferences than it is"
        " judged by. Bring the labels to one scale, with label_map where that suffices.",
        count=int(concerned.sum()),
        total=other.n_documents,
        unit="documents",
        examples=queries_of(other, concerned),
    )


def _names_beyond(dataset: RankingDataset, other: RankingDataset) -> tuple[str, ...]:
    others = set(other.feature_names)
    return tuple(name for name in dataset.feature_names if name not in others)


def _label_counts(dataset: RankingDataset) -> tuple[Float32Array, Int64Array]:
    labels, counts = np.unique(dataset.labels[~np.isnan(dataset.labels)], return_counts=True)
    return labels, counts


def _written(labels: Float32Array) -> str:
    if len(labels) > _GRADES:
        return f"{label_text(labels[0])} to {label_text(labels[-1])}"
    return ", ".join(label_text(label) for label in labels.tolist())
