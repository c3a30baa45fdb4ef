"""Parity reports: the differences between an export and its model."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataParity:
    """Parity of an export on documents.

    Attributes:
        leaves: Leaves compared: documents times trees; 0 for a network or a sum.
        differing_leaves: Number of leaves that differ from LightGBM's.
        differing_documents: Documents with a differing leaf; for a network or a sum, documents whose score
            differs from the model's by more than rounding explains.
        largest_score_difference: Largest difference of the engine's and the model's score, `score_shift`
            included.
        adjacent_pairs: Pairs of adjacent documents in the model's rankings whose scores differ.
        swapped_pairs: Number of these pairs in the opposite order in the engine.
        tied_pairs: Number of these pairs with equal scores in the engine.
        ndcg_at_10: The model's mean over queries with a relevant document; None without such queries.
        ndcg_at_10_difference: The engine's mean minus the model's.
        largest_ndcg_at_10_difference: Largest difference of a single query.
    """

    queries: int
    documents: int
    leaves: int
    differing_leaves: int
    differing_documents: int
    largest_score_difference: float
    adjacent_pairs: int
    swapped_pairs: int
    tied_pairs: int
    ndcg_at_10: float | None
    ndcg_at_10_difference: float | None
    largest_ndcg_at_10_difference: float | None


@dataclass(frozen=True)
class Difference:
    """A feature value with different decisions in LightGBM and in the engine.

    Attributes:
        tree: Index of the tree, from 0.
        threshold: Threshold of LightGBM; None where it is infinite.
        loaded: Threshold of the engine; None where it is infinite.
        value: The value as text, `missing` where it is missing.
        lightgbm: Decision of LightGBM, left or right.
    """

    tree: int
    feature: str
    threshold: float | None
    loaded: float | None
    value: str
    lightgbm: str


@dataclass(frozen=True)
class NeighbourParity:
    """Parity of an export on feature values at and next to every threshold.

    Attributes:
        decisions: Number of compared decisions. The values at each split are its threshold in LightGBM and in
            the engine and the next values below and above both. Zeros, the smallest and largest numbers,
            infinities and a missing value are also compared.
        differing_decisions: Number of decisions that differ from LightGBM's.
        differing_splits: Splits with such a decision.
    """

    splits: int
    decisions: int
    differing_decisions: int
    differing_splits: int
    examples: tuple[Difference, ...]


@dataclass(frozen=True)
class InexactThresholds:
    """Thresholds that cannot be written as the float32 sum of a number and 1e-6.

    Attributes:
        splits: Number of such thresholds: thresholds under about 1e-6, and some negative powers of two.
        widest_range: The largest distance between the engine's threshold and LightGBM's; values between these
            two have the opposite decision.
    """

    splits: int
    widest_range: float


@dataclass(frozen=True)
class EngineParity:
    """Parity of an export in the arithmetic of one engine.

    Attributes:
        data: Parity on documents, None without a dataset.
        neighbours: Parity on feature values at and next to every threshold.
        slack_residue: Inexact thresholds of an engine that adds 1e-6 to them; None for other engines.
    """

    engine: str
    arithmetic: str
    data: DataParity | None
    neighbours: NeighbourParity
    slack_residue: InexactThresholds | None


@dataclass(frozen=True)
class EdgeParity:
    """Parity on synthetic documents with missing, zero, smallest, largest and infinite values.

    Attributes:
        differing_documents: Documents whose score differs from the model's by more than rounding explains.
        largest_relative_difference: The same relative to the larger of 1 and the model's score.
    """

    documents: int
    differing_documents: int
    largest_score_difference: float
    largest_relative_difference: float


@dataclass(frozen=True)
class NetworkEngineParity(EngineParity):
    """Parity of an exported linear scorer, network or sum in one engine."""

    edge_cases: EdgeParity


@dataclass(frozen=True)
class ParityReport:
    """The comparison of an export with its model.

    Attributes:
        exact: Whether all decisions are equal, on documents and next to thresholds; for a network or a sum,
            also whether rounding explains all score differences.
        trees: Number of trees of the export; 0 for a network.
        score_shift: Constant added to all scores, or 0.
        engines: Parity in the arithmetic of each engine that reads the format.
    """

    format: str
    exact: bool
    trees: int
    score_shift: float
    engines: tuple[EngineParity, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class NetworkParityReport(ParityReport):
    """The comparison of an export with its linear scorer, network or sum.

    Attributes:
        engines: Parity in each engine that reads the format.
        scorer: `linear`, `mlp` or `sum`.
    """

    engines: tuple[NetworkEngineParity, ...]
    scorer: str
