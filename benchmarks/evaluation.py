"""All metrics beside ranx and pytrec_eval, and the randomisation test beside SciPy's, in turn in one run.

Every tool starts from the same columns: judgments (query, document, label) and a run (query, document, score)
whose rows stand in another order; what it has to build of them is part of its time.
"""

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytrec_eval
import ranx
from rich.console import Console
from rich.table import Table
from scipy import stats

from core.data import RankingDataset
from core.data.trec import Run, join_run
from core.evaluation import measure
from core.evaluation.randomisation import randomisation_p_values
from core.jit import use_threads
from core.metrics import METRICS, PRESETS
from core.types import Float64Array

CUTOFFS = (1, 5, 10, 20, 100)
SHARED = ("ndcg", "map", "precision", "recall", "mrr")  # what all three tools have
RANX = {"ndcg": "ndcg", "map": "map", "precision": "precision", "recall": "recall", "mrr": "mrr"}
TREC_EVAL = {"ndcg": "ndcg_cut", "map": "map_cut", "precision": "P", "recall": "recall"}


@dataclass(frozen=True)
class Columns:
    """The same data for all: judgments by query, and a run of the same documents in random order."""

    query_ids: list[str]
    document_ids: list[str]
    labels: list[int]
    run_rows: list[int]
    scores: list[float]

    @classmethod
    def drawn(cls, queries: int, documents: int) -> "Columns":
        """Draw labels 0 to 4 and scores."""
        generator = np.random.default_rng(11)
        n = queries * documents
        return cls(
            [f"q{row // documents}" for row in range(n)],
            [f"d{row}" for row in range(n)],
            generator.choice(5, n, p=[0.6, 0.2, 0.1, 0.06, 0.04]).tolist(),
            generator.permutation(n).tolist(),
            generator.standard_normal(n).astype(np.float32).tolist(),
        )


def by_query(columns: Columns, rows: list[int], values: list[float]) -> dict[str, dict[str, float]]:
    """Nest a column as the Python tools want it."""
    nested: dict[str, dict[str, float]] = {}
    for row, value in zip(rows, values, strict=True):
        nested.setdefault(columns.query_ids[row], {})[columns.document_ids[row]] = value
    return nested


def ours(columns: Columns, metrics: list[str]) -> dict[str, float]:
    """Evaluate with Rankery."""
    n = len(columns.labels)
    # Judgments stand by query, as in every qrels file.
    query_ids, starts = np.unique(np.array(columns.query_ids), return_index=True)
    order = np.argsort(starts)
    dataset = RankingDataset.from_arrays(
        np.empty((n, 0), np.float32),
        np.array(columns.labels, np.float32),
        np.append(starts[order], n),
        query_ids=query_ids[order].tolist(),
        document_ids=columns.document_ids,
    )
    rows = pa.array(columns.run_rows)
    run = Run.from_columns(
        pa.array(columns.query_ids).take(rows), pa.array(columns.document_ids).take(rows), columns.scores
    )
    joined = join_run(dataset, run)
    values = measure(joined.scores, joined, metrics, PRESETS["trec_eval"])
    return {name: float(value.mean()) for name, value in values.items()}


def with_trec_eval(columns: Columns) -> dict[str, float]:
    """Evaluate with pytrec_eval."""
    qrels = by_query(columns, list(range(len(columns.labels))), columns.labels)
    run = by_query(columns, columns.run_rows, columns.scores)
    wanted = {f"{theirs}.{','.join(map(str, CUTOFFS))}" for theirs in TREC_EVAL.values()}
    found = pytrec_eval.RelevanceEvaluator(qrels, wanted | {"recip_rank"}).evaluate(run).values()
    return {
        f"{name}@{k}": statistics.fmean(query[f"{theirs}_{k}"] for query in found)
        for name, theirs in TREC_EVAL.items()
        for k in CUTOFFS
    }


def with_ranx(columns: Columns) -> dict[str, float]:
    """Evaluate with ranx."""
    qrels = ranx.Qrels(by_query(columns, list(range(len(columns.labels))), columns.labels))
    run = ranx.Run(by_query(columns, columns.run_rows, columns.scores))
    wanted = [f"{theirs}@{k}" for theirs in RANX.values() for k in CUTOFFS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, float] = ranx.evaluate(qrels, run, wanted)
    return {f"{name}@{k}": found[f"{theirs}@{k}"] for name, theirs in RANX.items() for k in CUTOFFS}


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def compare_metrics(console: Console, queries: int, documents: int, repeats: int) -> None:
    """Print the time of each tool, and how far the numbers that they share are apart."""
    columns = Columns.drawn(queries, documents)
    shared = [f"{name}@{k}" for name in SHARED for k in CUTOFFS]
    everything = [f"{name}@{k}" for name, kind in METRICS.items() if kind.takes_cutoff for k in CUTOFFS]
    everything += [name for name, kind in METRICS.items() if not kind.takes_cutoff]
    tools: dict[str, Callable[[], dict[str, float]]] = {
        f"Rankery, all {len(everything)}": lambda: ours(columns, everything),
        f"Rankery, the {len(shared)} shared": lambda: ours(columns, shared),
        f"ranx, the {len(shared)} shared": lambda: with_ranx(columns),
        f"pytrec_eval, {len(shared) - len(CUTOFFS)} of them and MRR": lambda: with_trec_eval(columns),
    }
    means = {tool: action() for tool, action in tools.items()}  # also compiles
    times: dict[str, list[float]] = {tool: [] for tool in tools}
    for _ in range(repeats):
        for tool, action in tools.items():
            times[tool].append(seconds(action))
    medians = {tool: statistics.median(taken) for tool, taken in times.items()}
    reference = next(iter(means.values()))
    table = Table("tool", "seconds", "times ours", "largest difference of a mean")
    for tool, median in medians.items():
        gap = max(abs(reference[name] - mean) for name, mean in means[tool].items())
        table.add_row(tool, f"{median:.2f}", f"{median / next(iter(medians.values())):.1f}", f"{gap:.1e}")
    table.title = f"{queries:,} queries × {documents} documents, conversions included"
    console.print(table)


def compare_permutations(console: Console, queries: int, metrics: int, theirs: int, repeats: int) -> None:
    """Print the time of 100,000 permutations beside SciPy's, which is timed on fewer."""
    generator = np.random.default_rng(5)
    differences: Float64Array = generator.normal(0.002, 0.2, (queries, metrics))
    ours_taken, theirs_taken = [], []
    randomisation_p_values(differences, 1_000, 1, os.cpu_count() or 1)
    for _ in range(repeats):
        ours_taken.append(
            seconds(lambda: randomisation_p_values(differences, 100_000, 1, os.cpu_count() or 1))
        )
        theirs_taken.append(seconds(lambda: scipy_p_values(differences, theirs)))
    table = Table("tool", "permutations", "seconds", "seconds for 100,000")
    ours_median, theirs_median = statistics.median(ours_taken), statistics.median(theirs_taken)
    table.add_row("Rankery", "100,000", f"{ours_median:.2f}", f"{ours_median:.2f}")
    scaled = theirs_median * 100_000 / theirs
    table.add_row("SciPy permutation_test", f"{theirs:,}", f"{theirs_median:.2f}", f"{scaled:.0f} (scaled)")
    table.title = f"Randomisation test, {queries:,} queries × {metrics} metrics"
    console.print(table)
    gap = np.abs(randomisation_p_values(differences, 100_000, 1) - scipy_p_values(differences, theirs)).max()
    console.print(f"Largest difference of a p-value: {gap:.3f}")


def scipy_p_values(differences: Float64Array, permutations: int) -> Float64Array:
    """The same test by SciPy: signs of paired differences, in blocks that fit into memory."""
    found: Float64Array = stats.permutation_test(
        (differences,),
        lambda sample, axis: np.mean(sample, axis=axis),
        permutation_type="samples",
        n_resamples=permutations,
        batch=100,
        rng=np.random.default_rng(1),
    ).pvalue
    return found


def main() -> None:
    """Run both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6_000)
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scipy-permutations", type=int, default=2_000)
    options = parser.parse_args()
    use_threads(os.cpu_count() or 1)
    console = Console()
    compare_metrics(console, options.queries, options.documents, options.repeats)
    compare_permutations(console, options.queries, 10, options.scipy_permutations, options.repeats)


if __name__ == "__main__":
    main()
