"""Report of the comparison of an export with its model."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataParity:
    """Over documents.

    Attributes:
        queries: How many queries they are of.
        documents: How many were scored.
        leaves: Leaves looked up: documents times trees; none of a network.
        differing_leaves: How many of them are other leaves than LightGBM's.
        differing_documents: Documents with such a leaf; of a network, those whose score is farther from the
            model's than rounding explains.
        largest_score_difference: Between the engine's and LightGBM's score, `score_shift` added.
        adjacent_pairs: Neighbours in LightGBM's rankings whose scores differ.
        swapped_pairs: How many of them the engine ranks the other way round.
        tied_pairs: How many of them have equal scores in the engine.
        ndcg_at_10: LightGBM's mean over queries with a relevant document; None where there is none.
        ndcg_at_10_difference: The engine's mean less LightGBM's.
        largest_ndcg_at_10_difference: Of a single query.
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
    """A value that the engine sends elsewhere.

    Attributes:
        tree: From 0.
        feature: As the engine calls it.
        threshold: LightGBM's.
        loaded: The engine's, as it holds it; None where it is infinite.
        value: The value as text, `missing` where it is missing.
        lightgbm: Where LightGBM sends it, left or right.
    """

    tree: int
    feature: str
    threshold: float | None
    loaded: float | None
    value: str
    lightgbm: str


@dataclass(frozen=True)
class NeighbourParity:
    """Over the neighbours of every threshold.

    Attributes:
        splits: All splits of the model.
        decisions: Decisions compared: at each split its threshold, as LightGBM has it and as the engine has
            it, the values right below and above both, zeros, the smallest numbers there are, the largest, the
            infinities and a missing value.
        differing_decisions: How many of them are not LightGBM's.
        differing_splits: Splits with such a decision.
        examples: The first of them.
    """

    splits: int
    decisions: int
    differing_decisions: int
    differing_splits: int
    examples: tuple[Difference, ...]


@dataclass(frozen=True)
class SlackResidue:
    """Thresholds that no number plus 1e-6, added in float32, equals.

    Attributes:
        splits: How many: thresholds under about 1e-6, and some powers of two below 0.
        widest_range: The largest distance between the threshold there and LightGBM's: values between the two
            go the other way.
    """

    splits: int
    widest_range: float


@dataclass(frozen=True)
class EngineParity:
    """An export in the arithmetic of one engine.

    Attributes:
        engine: Whose.
        arithmetic: What it is, in words.
        data: Over documents, None where there were none.
        neighbours: Over the neighbours of every threshold.
        slack_residue: Of an engine that adds 1e-6 to thresholds.
    """

    engine: str
    arithmetic: str
    data: DataParity | None
    neighbours: NeighbourParity
    slack_residue: SlackResidue | None


@dataclass(frozen=True)
class EdgeParity:
    """Over made-up documents of a network: missing features, zeros, smallest, largest and infinite values.

    Attributes:
        documents: How many.
        differing_documents: Those whose score is farther from the model's than rounding explains.
        largest_score_difference: Between the engine's and the model's score.
        largest_relative_difference: The same as a share of the model's score, of 1 where that is less.
    """

    documents: int
    differing_documents: int
    largest_score_difference: float
    largest_relative_difference: float


@dataclass(frozen=True)
class NetworkEngineParity(EngineParity):
    """An export of a linear scorer or a network, as one engine evaluates it.

    Attributes:
        edge_cases: Over made-up documents.
    """

    edge_cases: EdgeParity


@dataclass(frozen=True)
class ParityReport:
    """An export held against its model.

    Attributes:
        format: The format.
        exact: Whether no decision differs, neither over data nor over neighbours; of a network, whether
            rounding explains all differences of scores.
        trees: How many trees the export has; none of a network.
        score_shift: What was added to all scores; 0 where nothing was.
        engines: In the arithmetic of each engine that reads the format.
        notes: What a user should know.
    """

    format: str
    exact: bool
    trees: int
    score_shift: float
    engines: tuple[EngineParity, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class NetworkParityReport(ParityReport):
    """An export of a linear scorer or a network held against its model: it has no trees and no splits.

    Attributes:
        engines: As each engine that reads the format evaluates it.
        scorer: `linear` or `mlp`.
    """

    engines: tuple[NetworkEngineParity, ...]
    scorer: str
