"""Recognise public corpora by the counts printed in papers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.data import RankingDataset
from core.data.folders import PARTS, fold_of
from core.data.labels import LabelRange
from core.doctor.report import Finding

_WANG = "Wang et al. 2018, table 1"
_MARCUZZI = "Marcuzzi et al. 2023, table 3"
_QIN = "Qin, Liu, Xu and Li 2010, LETOR 3.0"
_RELEASED = "the released files, as counted by the TensorFlow Datasets catalogue"
_MSLR_FEATURES = frozenset({136})
_ISTELLA_FEATURES = frozenset({220})
# Set 1 uses 519 features with ids up to 699; papers print 519 or 700.
_YAHOO_FEATURES = frozenset({519, 699, 700})
_OHSUMED_FEATURES = frozenset({25, 45})  # of LETOR 2.0 and 3.0
_MQ_FEATURES = frozenset({46})
_ORIENTATION = "Printed numbers are for orientation only"
_PART_NAMES = MappingProxyType({"train": "training", "validation": "validation", "test": "test"})


@dataclass(frozen=True)
class Counts:
    """The size of a dataset.

    Attributes:
        largest_label: The largest label; None where no document has a label.
    """

    queries: int
    documents: int
    features: int
    largest_label: float | None


@dataclass(frozen=True)
class PrintedCounts:
    """The size of a corpus, or of a part of it, in a paper.

    Attributes:
        corpus: Name of the corpus, such as `MSLR-WEB30K`.
        documents: Documents over all queries as printed.
        features: Possible numbers of features of the released files.
        largest_label: The highest grade of the corpus; the data may have lower labels only.
        fold: The fold, from 1; None for a whole corpus or a corpus without folds.
        part: `train`, `validation` or `test`; None for the whole.
    """

    corpus: str
    source: str
    queries: int
    documents: int
    features: frozenset[int]
    largest_label: float = 4.0
    fold: int | None = None
    part: str | None = None

    @property
    def name(self) -> str:
        """Name in messages: `the training part of MSLR-WEB30K Fold1`."""
        fold = "" if self.fold is None else f" Fold{self.fold}"
        return f"the {self.part_name} of {self.corpus}{fold}"

    @property
    def part_name(self) -> str:
        """Name of the part in messages: `training part`, or `whole`."""
        return "whole" if self.part is None else f"{_PART_NAMES[self.part]} part"

    def fits(self, counts: Counts) -> bool:
        """Return whether a dataset has these counts."""
        return (
            (self.queries, self.documents) == (counts.queries, counts.documents)
            and counts.features in self.features
            and counts.largest_label is not None
            and counts.largest_label <= self.largest_label
        )


def _parts(
    corpus: str, features: frozenset[int], *counts: tuple[int, int], fold: int | None = None
) -> tuple[PrintedCounts, ...]:
    return tuple(
        PrintedCounts(corpus, _WANG, queries, documents, features, fold=fold, part=part)
        for part, (queries, documents) in zip(PARTS, counts, strict=True)
    )


PRINTED_COUNTS = (
    *_parts("Yahoo set 1", _YAHOO_FEATURES, (19_944, 473_134), (2_994, 71_083), (6_983, 165_660)),
    *_parts("MSLR-WEB10K", _MSLR_FEATURES, (6_000, 723_412), (2_000, 235_259), (2_000, 241_521), fold=1),
    *_parts("MSLR-WEB30K", _MSLR_FEATURES, (18_919, 2_270_296), (6_306, 747_218), (6_306, 753_611), fold=1),
    # Sum of the parts that Wang et al. print; every fold has the same queries.
    PrintedCounts("MSLR-WEB10K", f"{_WANG}, the parts together", 10_000, 1_200_192, _MSLR_FEATURES),
    PrintedCounts("MSLR-WEB30K", _MARCUZZI, 31_531, 3_771_125, _MSLR_FEATURES),
    PrintedCounts("Yahoo set 1", _MARCUZZI, 29_921, 709_877, _YAHOO_FEATURES),
    PrintedCounts("Istella-S", _MARCUZZI, 33_018, 3_408_630, _ISTELLA_FEATURES),
    PrintedCounts("Istella", _MARCUZZI, 33_018, 10_454_629, _ISTELLA_FEATURES),
    PrintedCounts("Istella-X", _MARCUZZI, 10_000, 26_791_447, _ISTELLA_FEATURES),
    PrintedCounts("OHSUMED", _QIN, 106, 16_140, _OHSUMED_FEATURES, largest_label=2.0),
)

# Numbers of queries of each fold's parts, in the order of `PARTS`; papers print documents for fold 1 only.
# Folds 1, 4 and 5 of MSLR-WEB30K have equal numbers of queries.
RELEASED_QUERIES: Mapping[tuple[str, int], tuple[int, int, int]] = MappingProxyType(
    {
        **{("MSLR-WEB10K", fold): (6_000, 2_000, 2_000) for fold in range(1, 6)},
        ("MSLR-WEB30K", 1): (18_919, 6_306, 6_306),
        ("MSLR-WEB30K", 2): (18_918, 6_306, 6_307),
        ("MSLR-WEB30K", 3): (18_918, 6_307, 6_306),
        ("MSLR-WEB30K", 4): (18_919, 6_306, 6_306),
        ("MSLR-WEB30K", 5): (18_919, 6_306, 6_306),
    }
)


@dataclass(frozen=True)
class _Shape:
    corpora: str
    features: frozenset[int]
    largest_label: float


# Recognised by the number of features and a bound of the labels, where no printed counts match.
_SHAPES = (
    _Shape("MSLR-WEB10K and MSLR-WEB30K", _MSLR_FEATURES, 4.0),
    _Shape("Istella", _ISTELLA_FEATURES, 4.0),
    _Shape("Yahoo set 1", _YAHOO_FEATURES, 4.0),
    _Shape("MQ2007 and MQ2008 of LETOR 4.0", _MQ_FEATURES, 2.0),
    _Shape("OHSUMED of LETOR 3.0", frozenset({45}), 2.0),
)


@dataclass(frozen=True)
class Recognition:
    """The public corpus of a dataset.

    Attributes:
        corpus: Name of the corpus, such as `MSLR-WEB30K`; None where the counts match no corpus.
        fold: The fold, from 1; None where it is unknown or the corpus has none.
        part: `train`, `validation` or `test` of a single dataset that is a part; else None.
        as_printed: Whether the counts equal counts that a paper printed, and the parts are those of a fold.
            The counts may be of one part, or of all parts together. If false, results printed in papers are
            for orientation only.
    """

    corpus: str | None
    fold: int | None
    part: str | None
    as_printed: bool
    sentence: str
    sources: tuple[str, ...] = ()


def recognise(parts: Mapping[str, Counts], folder: str | None = None) -> Recognition:
    """Recognise a public corpus by the counts of its parts.

    Only counts are compared: changed labels or features with the same counts are not detected. Papers print
    the parts' counts of Fold1 only. Another fold is recognised by the total counts of its parts. Its number
    is derived from the number of queries of each part and from the folder name.

    Args:
        parts: Counts by part, `train`, `validation` and `test`; a single dataset may have any name.
        folder: The folder of the files, such as `MSLR-WEB30K/Fold3`.

    Example:
        >>> recognise({"test": Counts(6_306, 753_611, 136, 4.0)}).sentence
        'This is the test part of MSLR-WEB30K Fold1 as printed (Wang et al. 2018, table 1).'
    """
    if len(parts) == 1:
        counts = next(iter(parts.values()))
        printed = _printed(counts)
        return _unknown(counts) if printed is None else _as_printed(printed)
    printed_parts = [_printed(counts, part) for part, counts in parts.items()]
    corpora = {printed and (printed.corpus, printed.fold) for printed in printed_parts}
    printed = printed_parts[0]
    if len(corpora) == 1 and printed is not None:
        fold = "" if printed.fold is None else f" Fold{printed.fold}"
        sentence = f"This is {printed.corpus}{fold} as printed ({printed.source})."
        return Recognition(printed.corpus, printed.fold, None, True, sentence, (printed.source,))
    totals = Counts(
        sum(counts.queries for counts in parts.values()),
        sum(counts.documents for counts in parts.values()),
        max(counts.features for counts in parts.values()),
        max(
            (counts.largest_label for counts in parts.values() if counts.largest_label is not None),
            default=None,
        ),
    )
    whole = _printed(totals, None)
    return _unknown(totals) if whole is None else _whole(whole, parts, folder)


def _whole(whole: PrintedCounts, parts: Mapping[str, Counts], folder: str | None) -> Recognition:
    queries = tuple(parts[part].queries for part in PARTS if part in parts)
    folds = {
        fold: released for (corpus, fold), released in RELEASED_QUERIES.items() if corpus == whole.corpus
    }
    fold = None if folder is None else fold_of(folder)
    if folds:
        # Fold 1 is excluded: its parts have printed counts, which differ from these.
        possible = [number for number, released in folds.items() if released == queries and number != 1]
        if not possible or (fold is not None and fold not in possible):
            sentence = (
                f"The parts together have the counts of {whole.corpus}, but match none of its folds."
                f" {_ORIENTATION}."
            )
            return Recognition(whole.corpus, None, None, False, sentence, (whole.source,))
        fold = possible[0] if len(possible) == 1 else fold
    fold_name = "" if fold is None else f" Fold{fold}"
    sources = (whole.source, *((_RELEASED,) if folds else ()))
    sentence = (
        f"This is {whole.corpus}{fold_name}: its parts together have the printed counts ({whole.source});"
        " counts of these parts are not printed."
    )
    return Recognition(whole.corpus, fold, None, True, sentence, sources)


def _as_printed(printed: PrintedCounts) -> Recognition:
    sentence = f"This is {printed.name} as printed ({printed.source})."
    return Recognition(printed.corpus, printed.fold, printed.part, True, sentence, (printed.source,))


def _unknown(counts: Counts) -> Recognition:
    shape = _shape(counts)
    sentence = (
        "Its counts match no corpus of the papers"
        if shape is None
        else f"It has {counts.features} features, like {shape.corpora}, but matches no printed counts"
    )
    return Recognition(None, None, None, False, f"{sentence}. {_ORIENTATION}.")


def _printed(counts: Counts, *parts: str | None) -> PrintedCounts | None:
    """Return the printed counts that a dataset has, of any part or only of the given parts."""
    candidates = (printed for printed in PRINTED_COUNTS if not parts or printed.part in parts)
    return next((printed for printed in candidates if printed.fits(counts)), None)


def _shape(counts: Counts) -> _Shape | None:
    if counts.largest_label is None:
        return None
    fitting = (
        shape
        for shape in _SHAPES
        if counts.features in shape.features and counts.largest_label <= shape.largest_label
    )
    return next(fitting, None)


def corpus_findings(dataset: RankingDataset) -> Iterator[Finding]:
    """Report whether a dataset's counts match a public corpus, see `recognise`."""
    largest = LabelRange.of(dataset.labels).maximum
    counts = Counts(dataset.n_queries, dataset.n_documents, dataset.n_features, largest)
    printed = _printed(counts)
    if printed is not None:
        yield _finding(
            dataset,
            "corpus-as-printed",
            f"This is {printed.name} as printed: {dataset.n_queries:,} queries and"
            f" {dataset.n_documents:,} documents",
            f"The counts match {printed.source}. You can compare your metrics with printed metrics on this"
            " corpus if the metric contract and the protocol agree.",
        )
        return
    shape = _shape(counts)
    if shape is not None:
        yield _finding(
            dataset,
            "corpus-not-as-printed",
            f"It has {dataset.n_features} features, like {shape.corpora}, but matches no printed counts",
            f"With {dataset.n_queries:,} queries and {dataset.n_documents:,} documents, it is another fold,"
            " a subset or other data. Printed numbers for the corpus are for orientation only.",
        )


def _finding(dataset: RankingDataset, code: str, title: str, advice: str) -> Finding:
    count = dataset.n_documents
    return Finding(code, "info", title, advice, count, count, "documents")
