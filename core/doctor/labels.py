"""Findings on labels that are useless, or that a job would refuse."""

from collections.abc import Iterator

import numpy as np

from core.data import RankingDataset
from core.data.labels import MISSING, LabelRange, label_text
from core.doctor.report import Finding, query_examples_of_documents
from core.gains import LARGEST_EXP2_LABEL

_MAPPED_IN_ADVICE = 5
_STEEP_ABOVE = 10.0  # 2^y − 1 is then over a thousand times its value at 1


def label_findings(dataset: RankingDataset) -> Iterator[Finding]:
    """Report problems of the labels of all documents."""
    labels = LabelRange.of(dataset.labels)
    if labels.minimum is None or labels.maximum is None:
        yield _single_label(dataset, "has no label", "have no label")
        return
    if labels.minimum == labels.maximum and not labels.missing:
        label = label_text(labels.minimum)
        yield _single_label(dataset, f"has the label {label}", f"have the label {label}")
    if labels.missing:
        yield _missing(dataset, labels.missing)
    if labels.minimum < 0:
        yield _negative(dataset)
    if labels.maximum > LARGEST_EXP2_LABEL:
        yield _beyond_gain(dataset, labels.maximum)
    elif labels.maximum > _STEEP_ABOVE:
        yield _steep_gain(dataset, labels.maximum)


def _single_label(dataset: RankingDataset, one: str, many: str) -> Finding:
    return Finding.of_share(
        "one-label-dataset",
        "error",
        (dataset.n_documents, dataset.n_documents, "documents"),
        (one, many),
        advice="With a single label, no model can be evaluated, and none learns anything except from a click"
        " log. Check which column is the label, and whether documents with other labels are missing. Existing"
        " models can still rank the documents.",
    )


def _missing(dataset: RankingDataset, count: int) -> Finding:
    return Finding.of_share(
        "missing-labels",
        "warning",
        (count, dataset.n_documents, "documents"),
        ("has no label", "have no label"),
        advice="Training and evaluation jobs refuse missing labels. If unjudged means not relevant, set"
        f' label_map to {{"{MISSING}": 0}} in the job; otherwise remove these documents.',
        examples=query_examples_of_documents(dataset, np.isnan(dataset.labels)),
    )


def _negative(dataset: RankingDataset) -> Finding:
    affected = dataset.labels < 0
    labels = np.unique(dataset.labels[affected])[:_MAPPED_IN_ADVICE].tolist()
    mapped = ", ".join(f'"{label_text(label)}": 0' for label in labels)
    return Finding.of_share(
        "negative-labels",
        "warning",
        (int(affected.sum()), dataset.n_documents, "documents"),
        ("has a label below 0", "have a label below 0"),
        advice="Training and evaluation jobs refuse negative labels. Map them in the job, for example with"
        f" label_map {{{mapped}}}.",
        examples=query_examples_of_documents(dataset, affected),
    )


def _beyond_gain(dataset: RankingDataset, maximum: float) -> Finding:
    affected = dataset.labels > LARGEST_EXP2_LABEL
    beyond = f"a label above {LARGEST_EXP2_LABEL:g}, up to {label_text(maximum)}"
    return Finding.of_share(
        "labels-beyond-exp2",
        "warning",
        (int(affected.sum()), dataset.n_documents, "documents"),
        (f"has {beyond}", f"have {beyond}"),
        advice=f"The default gain 2^y − 1 is limited to labels up to {LARGEST_EXP2_LABEL:g}. Train with a"
        " linear gain or a list of gains, or map the labels to a few grades, such as 0 to 4. With the default"
        " gain, metrics depend almost only on the largest label.",
        examples=query_examples_of_documents(dataset, affected),
    )


def _steep_gain(dataset: RankingDataset, maximum: float) -> Finding:
    affected = dataset.labels > _STEEP_ABOVE
    steep = f"a label above {_STEEP_ABOVE:g}, up to {label_text(maximum)}"
    return Finding.of_share(
        "labels-steep-under-exp2",
        "warning",
        (int(affected.sum()), dataset.n_documents, "documents"),
        (f"has {steep}", f"have {steep}"),
        advice=f"With the default gain 2^y − 1, the label {label_text(maximum)} is worth"
        f" {2.0**maximum - 1.0:,.0f} times the label 1, so other labels have almost no effect. Set the gain"
        ' of loss and contract to "linear" or to a list of gains by label, or map the labels to grades with'
        " label_map.",
        examples=query_examples_of_documents(dataset, affected),
    )
