"""Time of all metrics compared with ranx and pytrec_eval, and of the randomisation test compared with SciPy.

Every tool starts from the same arrays of labels and scores by query, with ids; conversion of the arrays is
part of its time. Rankery is also measured with the scores as a run, which is joined with the judgments by
ids.
"""

import argparse
import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pytrec_eval
import ranx
from rich.console import Console
from rich.table import Table
from scipy import stats

from core.data import RankingDataset
from core.data.trec import Run, join_run
from core.evaluation import measure
from core.evaluation.randomisation import randomisation_p_values
from core.metrics import METRICS, PRESETS
from core.ranges import use_threads
from core.types import Float32Array, Float64Array, Int64Array

_Number = TypeVar("_Number", int, float)
CUTOFFS = (1, 5, 10, 20, 100)
SHARED = ("ndcg", "map", "precision", "recall", "mrr")  # metrics of all three tools
TREC_EVAL = {"ndcg": "ndcg_cut", "map": "map_cut", "precision": "P", "recall": "recall"}


@dataclass(frozen=True)
class ScoredDocuments:
    """A judged dataset and its scores, as arrays by query with ids."""

    query_ids: list[str]
    document_ids: list[str]
    query_boundaries: Int64Array
    labels: Float32Array
    scores: Float64Array

    @classmethod
    def draw(cls, queries: int, documents: int) -> "ScoredDocuments":
        """Draw labels 0 to 4 and scores that are exact in float32."""
        generator = np.random.default_rng(11)
        n = queries * documents
        return cls(
            [f"q{query}" for query in range(queries)],
            [f"d{row}" for row in range(n)],
            documents * np.arange(queries + 1, dtype=np.int64),
            generator.choice(5, n, p=[0.6, 0.2, 0.1, 0.06, 0.04]).astype(np.float32),
            generator.standard_normal(n).astype(np.float32).astype(np.float64),
        )

    @property
    def dataset(self) -> RankingDataset:
        """The judgments as a dataset, without scores."""
        return RankingDataset.from_arrays(
            np.empty((len(self.labels), 0), np.float32),
            self.labels,
            self.query_boundaries,
            query_ids=self.query_ids,
            document_ids=self.document_ids,
        )

    def by_query(self, values: list[_Number]) -> dict[str, dict[str, _Number]]:
        """Nest values by query and document, the input of the Python tools."""
        cuts = self.query_boundaries.tolist()
        return {
            query_id: dict(zip(self.document_ids[start:stop], values[start:stop], strict=True))
            for query_id, start, stop in zip(self.query_ids, cuts[:-1], cuts[1:], strict=True)
        }


def ours(scored: ScoredDocuments, metrics: list[str]) -> dict[str, float]:
    """Evaluate with Rankery."""
    values = measure(scored.scores, scored, metrics, PRESETS["trec_eval"])
    return {name: float(value.mean()) for name, value in values.items()}


def ours_as_run(scored: ScoredDocuments, metrics: list[str]) -> dict[str, float]:
    """Evaluate with Rankery, with the scores as a run that is joined with the judgments by ids."""
    query_ids = np.repeat(np.array(scored.query_ids, object), np.diff(scored.query_boundaries))
    joined = join_run(
        scored.dataset, Run.from_columns(query_ids.tolist(), scored.document_ids, scored.scores)
    )
    values = measure(joined.scores, joined, metrics, PRESETS["trec_eval"])
    return {name: float(value.mean()) for name, value in values.items()}


def with_trec_eval(scored: ScoredDocuments) -> dict[str, float]:
    """Evaluate with pytrec_eval."""
    qrels = scored.by_query(scored.labels.astype(np.int64).tolist())
    run = scored.by_query(scored.scores.tolist())
    wanted = {f"{theirs}.{','.join(map(str, CUTOFFS))}" for theirs in TREC_EVAL.values()}
    found = pytrec_eval.RelevanceEvaluator(qrels, wanted | {"recip_rank"}).evaluate(run).values()
    return {
        f"{name}@{k}": statistics.fmean(query[f"{theirs}_{k}"] for query in found)
        for name, theirs in TREC_EVAL.items()
        for k in CUTOFFS
    }


def with_ranx(scored: ScoredDocuments) -> dict[str, float]:
    """Evaluate with ranx."""
    qrels = ranx.Qrels(scored.by_query(scored.labels.astype(np.int64).tolist()))
    run = ranx.Run(scored.by_query(scored.scores.tolist()))
    wanted = [f"{name}@{k}" for name in SHARED for k in CUTOFFS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, float] = ranx.evaluate(qrels, run, wanted)
    return found


def seconds(action: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def compare_metrics(console: Console, queries: int, documents: int, repeats: int) -> None:
    """Print the time of each tool, and the largest differences of their metrics."""
    scored = ScoredDocuments.draw(queries, documents)
    shared = [f"{name}@{k}" for name in SHARED for k in CUTOFFS]
    everything = [f"{name}@{k}" for name, kind in METRICS.items() if kind.takes_cutoff for k in CUTOFFS]
    everything += [name for name, kind in METRICS.items() if not kind.takes_cutoff]
    tools: dict[str, Callable[[], dict[str, float]]] = {
        f"Rankery, all {len(everything)}": lambda: ours(scored, everything),
        f"Rankery, the {len(shared)} shared": lambda: ours(scored, shared),
        f"Rankery, all {len(everything)}, of a run": lambda: ours_as_run(scored, everything),
        f"ranx, the {len(shared)} shared": lambda: with_ranx(scored),
        f"pytrec_eval, {len(shared) - len(CUTOFFS)} of them and MRR": lambda: with_trec_eval(scored),
    }
    means = {tool: action() for tool, action in tools.items()}  # the first calls also compile the code
    times: dict[str, list[float]] = {tool: [] for tool in tools}
    for _ in range(repeats):
        for tool, action in tools.items():
            times[tool].append(seconds(action))
    medians = {tool: statistics.median(taken) for tool, taken in times.items()}
    reference = next(iter(means.values()))
    table = Table("tool", "seconds", "ratio to ours", "largest difference of a mean")
    for tool, median in medians.items():
        gap = max(abs(reference[name] - mean) for name, mean in means[tool].items())
        table.add_row(tool, f"{median:.2f}", f"{median / next(iter(medians.values())):.1f}", f"{gap:.1e}")
    table.title = f"{queries:,} queries × {documents} documents, conversions included"
    console.print(table)


def compare_permutations(
    console: Console, queries: int, metrics: int, scipy_permutations: int, repeats: int
) -> None:
    """Print the time of 100,000 permutations compared with SciPy, which is timed on fewer."""
    generator = np.random.default_rng(5)
    differences: Float64Array = generator.normal(0.002, 0.2, (queries, metrics))
    ours_taken, theirs_taken = [], []
    randomisation_p_values(differences, 1_000, 1, os.cpu_count() or 1)
    for _ in range(repeats):
        ours_taken.append(
            seconds(lambda: randomisation_p_values(differences, 100_000, 1, os.cpu_count() or 1))
        )
        theirs_taken.append(seconds(lambda: scipy_p_values(differences, scipy_permutations)))
    table = Table("tool", "permutations", "seconds", "seconds for 100,000")
    ours_median, theirs_median = statistics.median(ours_taken), statistics.median(theirs_taken)
    table.add_row("Rankery", "100,000", f"{ours_median:.2f}", f"{ours_median:.2f}")
    scaled = theirs_median * 100_000 / scipy_permutations
    table.add_row(
        "SciPy permutation_test", f"{scipy_permutations:,}", f"{theirs_median:.2f}", f"{scaled:.0f} (scaled)"
    )
    table.title = f"Randomisation test, {queries:,} queries × {metrics} metrics"
    console.print(table)
    expected = scipy_p_values(differences, scipy_permutations)
    gap = np.abs(randomisation_p_values(differences, 100_000, 1) - expected).max()
    console.print(f"Largest difference of a p-value: {gap:.3f}")


def scipy_p_values(differences: Float64Array, permutations: int) -> Float64Array:
    """Return p-values of the same test by SciPy: random signs of paired differences, in blocks."""
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
