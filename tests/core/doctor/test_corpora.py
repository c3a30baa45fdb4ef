"""Public corpora are recognised by the counts that papers print."""

import numpy as np
import pytest

from core.data import RankingDataset
from core.doctor import examine
from core.doctor.corpora import (
    PRINTED_COUNTS,
    RELEASED_QUERIES,
    Counts,
    PrintedCounts,
    corpus_findings,
    recognise,
)

CODES = {"corpus-as-printed", "corpus-not-as-printed"}
PARTS = ("train", "validation", "test")


def of_size(queries: int, documents: int, features: int, largest_label: float = 4.0) -> RankingDataset:
    """Return a dataset of these counts; the last query has the documents that are left."""
    boundaries = np.r_[np.arange(queries), documents]
    labels = np.zeros(documents, np.float32)
    labels[-1] = largest_label
    return RankingDataset.from_arrays(np.zeros((documents, features), np.float32), labels, boundaries)


def fold(
    queries: tuple[int, ...], documents: tuple[int, ...], features: int = 136, label: float = 4.0
) -> dict[str, Counts]:
    """Return the counts of the parts of a fold."""
    return {
        part: Counts(n_queries, n_documents, features, label)
        for part, n_queries, n_documents in zip(PARTS, queries, documents, strict=False)
    }


@pytest.mark.parametrize("printed", PRINTED_COUNTS, ids=lambda printed: printed.name)
def test_each_part_is_recognised_by_its_counts(printed: PrintedCounts) -> None:
    """Each printed part is found by its own counts, with any number of features that its files have."""
    for features in printed.features:
        counts = Counts(printed.queries, printed.documents, features, printed.largest_label)
        found = recognise({"any": counts})
        assert (found.corpus, found.fold, found.part) == (printed.corpus, printed.fold, printed.part)
        assert found.as_printed
        assert found.sentence == f"This is {printed.name} as printed ({printed.source})."


@pytest.mark.parametrize("change", [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)])
def test_one_more_of_anything_is_another_dataset(change: tuple[int, ...]) -> None:
    """A dataset is recognised only if queries, documents, features and largest label all match."""
    counts = (np.array([6_306, 753_611, 136, 4]) + change).tolist()
    found = recognise({"test": Counts(*counts)})
    assert (found.corpus, found.as_printed) == (None, False)
    assert found.sentence.endswith("Printed numbers are for orientation only.")


def test_parts_of_a_fold_add_up_to_the_whole() -> None:
    """The parts as printed in 2018 have the counts of the whole, which the 2023 paper prints of WEB30K."""
    for corpus in ("MSLR-WEB10K", "MSLR-WEB30K", "Yahoo set 1"):
        parts = [printed for printed in PRINTED_COUNTS if printed.corpus == corpus and printed.part]
        (whole,) = (printed for printed in PRINTED_COUNTS if printed.corpus == corpus and not printed.part)
        assert sum(part.queries for part in parts) == whole.queries
        assert sum(part.documents for part in parts) == whole.documents
    for (corpus, _), released in RELEASED_QUERIES.items():
        (whole,) = (printed for printed in PRINTED_COUNTS if printed.corpus == corpus and not printed.part)
        assert sum(released) == whole.queries


def test_the_parts_of_the_first_fold_are_as_printed() -> None:
    """The parts of WEB30K's first fold and of Yahoo are recognised by printed counts, in any folder."""
    parts = fold((18_919, 6_306, 6_306), (2_270_296, 747_218, 753_611))
    for folder in (None, "MSLR-WEB30K/Fold1", "somewhere"):
        found = recognise(parts, folder)
        assert (found.corpus, found.fold, found.part, found.as_printed) == ("MSLR-WEB30K", 1, None, True)
        assert found.sentence == "This is MSLR-WEB30K Fold1 as printed (Wang et al. 2018, table 1)."
    assert recognise(fold((18_919, 6_306), (2_270_296, 747_218))).fold == 1
    yahoo = recognise(fold((19_944, 2_994, 6_983), (473_134, 71_083, 165_660), features=519), "Yahoo/set1")
    assert yahoo.sentence == "This is Yahoo set 1 as printed (Wang et al. 2018, table 1)."


@pytest.mark.parametrize(
    ("queries", "folder", "expected"),
    [
        ((18_918, 6_306, 6_307), None, 2),
        ((18_918, 6_307, 6_306), "MSLR-WEB30K/Fold3", 3),
        ((18_919, 6_306, 6_306), "MSLR-WEB30K/Fold4", 4),
        ((18_919, 6_306, 6_306), "MSLR-WEB30K/Fold5", 5),
        ((18_919, 6_306, 6_306), None, None),
    ],
)
def test_other_folds_are_recognised_by_their_queries_and_folder(
    queries: tuple[int, ...], folder: str | None, expected: int | None
) -> None:
    """Papers print only the total documents of these folds; the folder decides between folds 4 and 5."""
    found = recognise(fold(queries, (2_300_000, 700_000, 771_125)), folder)
    assert (found.corpus, found.fold, found.as_printed) == ("MSLR-WEB30K", expected, True)
    assert "its parts together have the printed counts (Marcuzzi et al. 2023, table 3)" in found.sentence
    assert "counts of these parts are not printed" in found.sentence


@pytest.mark.parametrize(
    ("queries", "folder"),
    [
        ((18_918, 6_306, 6_307), "MSLR-WEB30K/Fold3"),  # queries of fold 2
        ((18_919, 6_306, 6_306), "MSLR-WEB30K/Fold1"),  # queries of fold 1, but other documents than printed
        ((18_917, 6_307, 6_307), "MSLR-WEB30K/Fold2"),  # queries of no fold
    ],
)
def test_a_custom_split_of_a_corpus_is_not_recognised_as_a_fold(
    queries: tuple[int, ...], folder: str
) -> None:
    """If the whole corpus is split differently, printed numbers are for orientation only."""
    found = recognise(fold(queries, (2_300_000, 700_000, 771_125)), folder)
    assert (found.corpus, found.fold, found.as_printed) == ("MSLR-WEB30K", None, False)
    assert "none of its folds. Printed numbers are for orientation only." in found.sentence


def test_folds_of_ohsumed_are_recognised_together() -> None:
    """LETOR 3.0 prints the counts of all parts together; labels above 2 are not of OHSUMED."""
    queries, documents = (63, 21, 22), (9_219, 3_400, 3_521)
    found = recognise(fold(queries, documents, features=45, label=2.0), "OHSUMED/Fold2")
    assert (found.corpus, found.fold, found.as_printed) == ("OHSUMED", 2, True)
    assert not recognise(fold(queries, documents, features=45, label=4.0)).as_printed


def test_a_part_as_printed_is_named_with_its_source() -> None:
    """The finding names the part and the paper, and its severity is information."""
    (finding,) = corpus_findings(of_size(2_994, 71_083, 519))
    assert (finding.code, finding.severity) == ("corpus-as-printed", "info")
    assert (
        finding.title == "This is the validation part of Yahoo set 1 as printed: 2,994 queries and"
        " 71,083 documents"
    )
    assert "Wang et al. 2018, table 1" in finding.advice


@pytest.mark.parametrize(
    ("features", "label", "corpora"),
    [
        (136, 4.0, "MSLR-WEB10K and MSLR-WEB30K"),
        (220, 4.0, "Istella"),
        (700, 4.0, "Yahoo set 1"),
        (46, 2.0, "MQ2007 and MQ2008 of LETOR 4.0"),
        (45, 2.0, "OHSUMED of LETOR 3.0"),
    ],
)
def test_other_counts_are_for_orientation_only(features: int, label: float, corpora: str) -> None:
    """Data shaped like a corpus, but of another size, are not recognised; the report has the reason."""
    dataset = of_size(5, 40, features, label)
    found = [finding for finding in examine(dataset).findings if finding.code in CODES]
    assert [finding.code for finding in found] == ["corpus-not-as-printed"]
    assert f"like {corpora}," in found[0].title
    assert "for orientation only" in found[0].advice
    assert f"like {corpora}," in recognise({"train": Counts(5, 40, features, label)}).sentence


def test_other_data_are_not_recognised_as_a_corpus() -> None:
    """Data with other features, or with labels above the corpus's, are not recognised."""
    for dataset in (of_size(5, 40, 50), of_size(5, 40, 136, 5.0), of_size(5, 40, 46, 4.0)):
        assert CODES.isdisjoint(finding.code for finding in examine(dataset).findings)
    assert "match no corpus of the papers" in recognise({"train": Counts(5, 40, 50, 4.0)}).sentence
    assert not recognise({"train": Counts(5, 40, 136, None)}).as_printed
