"""Parts of a paper's experiments: methods, tables, protocols, printed numbers and claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.experiments.rules import Rule
from core.scorers import Trees

Part = Literal["train", "validation", "test"]
Scale = Literal["quick", "paper"]
Measure = Literal[
    "mean",
    "best",
    "average",
    "objective-milliseconds",
    "tree-milliseconds",
    "epoch-milliseconds",
    "epoch-ratio",
    "epoch-slope",
]
Test = Literal["t-test", "randomisation", "intervals"]
MAIN = "main"  # name of a plan's dataset in stored experiments
SCALES: tuple[Scale, ...] = ("quick", "paper")


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of a paper, usually a row of a table: a loss, a scorer and hyperparameters.

    Attributes:
        loss: The loss as in a training request; None where it is not implemented.
        hyperparameters: Hyperparameters of the trees, on every corpus.
        by_corpus: Printed hyperparameters by corpus, which override `hyperparameters`.
        loss_by_corpus: Printed hyperparameters of the loss by corpus.
        grid: Grid points: changes of the tree hyperparameters, or of the scorer if it is a network.
            Validation picks a grid point. Empty for a single training.
        quick: Changes at the quick scale, which replace those of the corpus and of the grid.
        scorer: Scorer as in a training request; the protocol defines its epochs.
        deviations: Differences from the paper's own set-up.
    """

    name: str
    loss: Mapping[str, Any] | None
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)
    by_corpus: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    loss_by_corpus: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    grid: tuple[Mapping[str, Any], ...] = ()
    quick: Mapping[str, Any] = field(default_factory=dict)
    quick_grid: tuple[Mapping[str, Any], ...] = ()
    scorer: Mapping[str, Any] = field(default_factory=lambda: {"kind": Trees.kind})
    deviations: tuple[str, ...] = ()

    @property
    def is_network(self) -> bool:
        """Return whether the method trains a linear scorer or a network instead of trees."""
        return bool(self.scorer["kind"] != Trees.kind)


@dataclass(frozen=True, kw_only=True)
class Epochs:
    """Epochs of networks.

    Attributes:
        epochs: Maximum number of epochs.
        quick_epochs: Maximum number of epochs at the quick scale.
        early_stopping: Epochs without improvement that end a training, None for no early stopping.
        metric_interval: Epochs between measurements.
    """

    epochs: int
    quick_epochs: int
    early_stopping: int | None = None
    metric_interval: int = 1


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Protocol of training and measuring the models of a table.

    Attributes:
        trees: Maximum number of trees.
        quick_trees: Maximum number of trees at the quick scale.
        early_stopping: Iterations without improvement that end a training, None for no early stopping.
        selection: Metric that picks iterations and grid points on the validation data.
        metric_interval: Iterations between measurements.
        networks: Epochs of networks, None for tables without networks.
        description: The paper's protocol in a sentence.
    """

    trees: int
    quick_trees: int
    early_stopping: int | None
    selection: str
    metrics: tuple[str, ...]
    contract: str | Mapping[str, Any] = "default"
    metric_interval: int = 1
    networks: Epochs | None = None
    description: str = ""


@dataclass(frozen=True)
class Printed:
    """A number as printed.

    Attributes:
        value: The number, in the table's unit.
        mark: The paper's mark of significance, `*`, `**` or none.
        half_width: Half the width of the printed 95% interval, None without an interval.
    """

    value: float
    mark: str = ""
    half_width: float | None = None


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of a loss that a figure shows.

    Attributes:
        cutoff: k of the top k that is diagnosed.
        quick_interval: Trees between diagnoses at the quick scale.
    """

    cutoff: int
    interval: int
    quick_interval: int


@dataclass(frozen=True)
class EpochTiming:
    """Epoch of RankNet on polynomial data to be timed, outside of training jobs.

    Attributes:
        pair_by_pair: Whether forward and backward passes are per pair (V1) instead of per document (V2).
        hidden: Units of each hidden layer; none for a linear scorer.
    """

    pair_by_pair: bool
    hidden: tuple[int, ...]
    queries: int
    documents: int


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Source of a number of a table.

    Attributes:
        method: Method to train; None for a number that is only printed, or for timed epochs.
        metric: Metric; for curves, `dataset/metric` in a job's history.
        part: Part of the data that is measured.
        measure: `mean` over the queries; `best` and `average` of a curve; milliseconds of an iteration
            that other load did not disturb. For timed epochs, the milliseconds of an epoch, the ratio of two
            timings, first to second, or the slope of log milliseconds over log documents.
        first_tree: First tree that counts for `average`.
        timings: Epochs to time by scale, for the measures of epochs.
        selection: Metric that picks iterations and grid points, overriding the protocol's metric.
    """

    row: str
    column: str
    method: Method | None
    metric: str
    part: Part = "test"
    measure: Measure = "mean"
    first_tree: int = 1
    timings: Mapping[Scale, tuple[EpochTiming, ...]] = field(default_factory=dict)
    label_map: Mapping[str, float] = field(default_factory=dict)
    diagnostics: Diagnostics | None = None
    selection: str | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a paper about its numbers."""

    name: str
    statement: str
    source: str
    rule: Rule


@dataclass(frozen=True, kw_only=True)
class Significance:
    """A paper's own test.

    Attributes:
        test: Name of the test; `intervals` for a paper with intervals but no test, where we use Fisher's.
        levels: Marks of significance, with their largest p-values.
        reference: Reference row of each tested row, by row.
        improvements_only: Whether only better rows are marked.
        description: Paraphrase of the paper's description.
    """

    test: Test
    levels: Mapping[str, float]
    reference: Mapping[str, str] = field(default_factory=dict)
    improvements_only: bool = True
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table or figure of a paper.

    Attributes:
        name: `table-4` or `figure-2`.
        rows: Names of the rows, in display order.
        entries: Sources of the numbers; cells without an entry are empty.
        unit: `percent`, `fraction`, `milliseconds` or `number`.
        printed: Printed numbers by corpus, row and column; empty for figures without numbers.
        significance: The paper's own test, or None.
        deviations: Differences of our set-up from the paper's.
    """

    name: str
    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: tuple[Entry, ...]
    protocol: Protocol
    unit: Literal["percent", "fraction", "milliseconds", "number"] = "percent"
    printed: Mapping[str, Mapping[str, Mapping[str, Printed]]] = field(default_factory=dict)
    significance: Significance | None = None
    claims: tuple[Claim, ...] = ()
    deviations: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """A synthetic dataset: parameters of `POST /v1/datasets/synthetic`, and the queries of each part.

    Attributes:
        queries: Numbers of queries for training, validation and test.
    """

    queries: tuple[int, int, int]
    parameters: Mapping[str, Any]


# Synthetic datasets that several papers share.
# A training of 100 trees takes 5 s on one core. Queries have more relevant documents than the cutoffs, so
# that the losses give different results.
QUICK_SPARSE = Sizes(
    queries=(300, 150, 1_000),
    parameters={
        "generator": "sparse",
        "documents_per_query": 300,
        "features": 30,
        "relevant_per_query": 20.0,
    },
)
QUICK_POLYNOMIAL = Sizes(queries=(800, 400, 2_000), parameters={"generator": "polynomial"})
PAPER_SPARSE = Sizes(
    queries=(2_000, 1_000, 2_000),
    parameters={"generator": "sparse", "documents_per_query": 1_000, "relevant_per_query": 30.0},
)
# Burges et al. 2006, section 6.3.1
PAPER_POLYNOMIAL = Sizes(queries=(10_000, 5_000, 10_000), parameters={"generator": "polynomial"})

SIZES: Mapping[Scale, Mapping[str, Sizes]] = {
    "quick": {"synthetic": QUICK_POLYNOMIAL, "sparse": QUICK_SPARSE},
    "paper": {"synthetic": PAPER_POLYNOMIAL, "sparse": PAPER_SPARSE},
}


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper and its experiments.

    Attributes:
        name: `lambdaloss-2018`.
        authors: Surnames of the authors.
        corpora: Corpora of the printed numbers, with the names in `core.doctor.corpora`.
        printed_corpus_by_source: The corpus whose printed numbers are shown beside other data, by the data's
            source: `synthetic`, `sparse` or `folder`.
        data: The default generator if the user has no data, `synthetic` or `sparse`.
        sizes: Synthetic datasets by scale and generator.
        deviations: Differences of our set-up from the paper's in all tables.
    """

    name: str
    title: str
    authors: str
    year: int
    tables: tuple[Table, ...]
    corpora: tuple[str, ...]
    printed_corpus_by_source: Mapping[str, str]
    data: Literal["synthetic", "sparse"]
    sizes: Mapping[Scale, Mapping[str, Sizes]]
    deviations: tuple[str, ...] = ()


def printed_row(columns: Sequence[str], numbers: str) -> dict[str, Printed]:
    """Parse a row of numbers with marks of significance, one per column; `-` for no number.

    Example:
        >>> printed_row(["a", "b"], "73.32 75.35**")["b"].mark
        '**'
    """
    cells = dict(zip(columns, numbers.split(), strict=True))
    return {
        column: Printed(float(text.rstrip("*")), text[len(text.rstrip("*")) :])
        for column, text in cells.items()
        if text != "-"
    }


def printed_rows(columns: Sequence[str], rows: Mapping[str, str]) -> dict[str, dict[str, Printed]]:
    """Parse several rows, see `printed_row`."""
    return {row: printed_row(columns, numbers) for row, numbers in rows.items()}


def transpose(rows: Mapping[str, Mapping[str, Printed]]) -> dict[str, dict[str, Printed]]:
    """Exchange rows and columns."""
    by_column: dict[str, dict[str, Printed]] = {}
    for row, cells in rows.items():
        for column, printed in cells.items():
            by_column.setdefault(column, {})[row] = printed
    return by_column
