"""Seconds of an EM pass compared with PyClick and plain NumPy, and peak memory.

PyClick is not a dependency: name a checkout of markovi/PyClick with `--pyclick`. PyClick is plain Python and
is measured on a small share of the lists.
"""

import argparse
import importlib
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from core.clicks import ClickLog
from core.clicks.models import ClickModelSpec
from core.clicks.models.estimation import estimate
from core.clicks.models.layout import QueryBlocks
from core.data.texts import Texts
from core.ranges import use_threads
from core.types import Float64Array, Int64Array

LENGTH, DOCUMENTS, LISTS_PER_QUERY = 10, 15, 200
CHUNK = 100_000  # lists that are drawn together
PYCLICK_LISTS = 2_000
INITIAL_PARAMETER = 0.5


def draw_log(n_lists: int) -> ClickLog:
    """Draw lists of ten of fifteen documents, for queries of a Zipf distribution."""
    draws = np.random.default_rng(1)
    n_queries = max(1, n_lists // LISTS_PER_QUERY)
    weights = np.arange(1, n_queries + 1) ** -0.8
    ends = np.cumsum(weights / weights.sum())
    queries = np.minimum(np.searchsorted(ends, draws.random(n_lists)), n_queries - 1).astype(np.int32)
    pairs = np.empty((n_lists, LENGTH), np.int32)
    clicks = np.empty((n_lists, LENGTH), np.bool_)
    for start in range(0, n_lists, CHUNK):
        part = queries[start : start + CHUNK, np.newaxis]
        drawn = draws.random((len(part), DOCUMENTS), np.float32)
        pairs[start : start + CHUNK] = np.argsort(drawn, axis=1)[:, :LENGTH] + part * DOCUMENTS
        clicks[start : start + CHUNK] = draws.random((len(part), LENGTH), np.float32) < 0.1
    return ClickLog(
        list_boundaries=LENGTH * np.arange(n_lists + 1, dtype=np.int64),
        list_queries=queries,
        pairs=pairs.ravel(),
        ranks=np.tile(np.arange(1, LENGTH + 1, dtype=np.int16), n_lists),
        clicks=clicks.ravel(),
        pair_queries=np.repeat(np.arange(n_queries, dtype=np.int32), DOCUMENTS),
        pair_documents=np.tile(np.arange(DOCUMENTS, dtype=np.int32), n_queries),
        query_ids=Texts.of([f"q{query}" for query in range(n_queries)]),
        document_ids=Texts.of([f"d{document}" for document in range(DOCUMENTS)]),
    )


def pass_seconds(lists: QueryBlocks, model: str) -> float:
    """Return the seconds of an EM pass: a fifth of the difference between six passes and one."""
    taken = []
    weights = lists.in_order(None)
    for iterations in (1, 6, 1):  # the first run only warms caches
        started = time.perf_counter()
        estimate(lists, ClickModelSpec(model=model, iterations=iterations), weights)
        taken.append(time.perf_counter() - started)
    return (taken[1] - taken[2]) / 5


def numpy_pbm_pass(log: ClickLog) -> float:
    """Return the seconds of an EM pass of the position-based model in plain NumPy."""
    alpha, theta = np.full(log.n_pairs, INITIAL_PARAMETER), np.full(LENGTH, INITIAL_PARAMETER)
    pairs: Int64Array = log.pairs.astype(np.int64)
    ranks: Int64Array = log.ranks.astype(np.int64) - 1
    started = time.perf_counter()
    a, t = alpha[pairs], theta[ranks]
    p: Float64Array = a * t
    attractive = np.where(log.clicks, 1.0, (1.0 - t) * a / (1.0 - p))
    examined = np.where(log.clicks, 1.0, (1.0 - a) * t / (1.0 - p))
    alpha = (np.bincount(pairs, attractive, log.n_pairs) + 1) / (
        np.bincount(pairs, minlength=log.n_pairs) + 2
    )
    theta = (np.bincount(ranks, examined, LENGTH) + 1) / (np.bincount(ranks, minlength=LENGTH) + 2)
    return time.perf_counter() - started


def pyclick_pass(folder: Path, log: ClickLog, model: str) -> float:
    """Return the seconds of an EM pass of PyClick, scaled to the impressions of the log."""
    sys.path.insert(0, str(folder))
    load: Callable[[str], Any] = importlib.import_module
    session = load("pyclick.search_session.SearchSession").SearchSession
    result = load("pyclick.search_session.SearchResult").SearchResult
    inference = load("pyclick.click_models.Inference").EMInference(1)
    sessions = []
    for number in range(min(PYCLICK_LISTS, log.n_lists)):
        shown = session(int(log.list_queries[number]))
        for i in range(number * LENGTH, (number + 1) * LENGTH):
            shown.web_results.append(result(int(log.pairs[i]), int(log.clicks[i])))
        sessions.append(shown)
    fitted = getattr(load(f"pyclick.click_models.{model.upper()}"), model.upper())()
    started = time.perf_counter()
    inference.infer_params(fitted, sessions)
    return (time.perf_counter() - started) * log.n_lists / len(sessions)


def main() -> None:
    """Print a table of seconds and the peak memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--impressions", type=float, default=1e7)
    parser.add_argument("--pyclick", type=Path)
    arguments = parser.parse_args()
    log = draw_log(int(arguments.impressions) // LENGTH)
    shown = Table("model", "1 thread", "2 threads", "NumPy", "PyClick, extrapolated")
    numpy_seconds = f"{numpy_pbm_pass(log):.2f}" if log.n_impressions <= 2e7 else ""
    lists = QueryBlocks.of(log, LENGTH)
    for model in ("pbm", "ubm", "dbn"):
        seconds = []
        for threads in (1, 2):
            use_threads(threads)
            seconds.append(f"{pass_seconds(lists, model):.3f}")
        theirs = "" if arguments.pyclick is None else f"{pyclick_pass(arguments.pyclick, log, model):.0f}"
        shown.add_row(model, *seconds, numpy_seconds if model == "pbm" else "", theirs)
    console = Console()
    console.print(f"{log.n_impressions:,} impressions, {log.n_lists:,} lists, {log.n_pairs:,} pairs")
    console.print(shown)
    gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    console.print(f"peak memory: {gibibytes:.1f} GiB, the log included")


if __name__ == "__main__":
    main()
