"""Microseconds to score documents with one thread, compared with LightGBM, ONNX Runtime and treelite.

Measurements alternate; medians of wall time are printed. Our scores are compared with LightGBM's, bit for
bit. ONNX Runtime runs our export on float32; treelite uses its General Tree Inference Library. A second table
is about sums of the forest and a linear scorer or a network. It has first quartiles of their processor time,
and the ratios to the forest alone.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lightgbm
import numpy as np
import onnxruntime
import treelite
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.network_scoring import MEASURED_SECONDS, microseconds, network
from core.export import export_model
from core.scorers import Member, Sum, TreeModel, write_network
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.types import Float64Array, FloatArray

N_FEATURES = 136
FORESTS = ((500, 64), (1000, 255))
DOCUMENTS = (1, 10, 100, 1000)
DOCUMENTS_OF_SUMS = (100, 10_000)
TRAINING_DOCUMENTS = 20_000
_MISSING_SHARE = 0.02

Scorer = Callable[[Float64Array], Any]


def model_text(n_trees: int, n_leaves: int) -> str:
    """Train a forest on values that depend on interactions of many features."""
    random = np.random.default_rng(0)
    features = random.normal(size=(TRAINING_DOCUMENTS, N_FEATURES))
    targets = features @ random.normal(size=N_FEATURES) + 3 * np.sin(features[:, 3] * features[:, 5])
    parameters = {
        "objective": "regression",
        "num_leaves": n_leaves,
        "learning_rate": 0.05,
        "feature_fraction": 0.3,
        "min_data_in_leaf": 5,
        "num_threads": 2,
        "verbose": -1,
    }
    data = lightgbm.Dataset(features, targets)
    return str(lightgbm.train(parameters, data, n_trees).model_to_string())


def documents(n_documents: int) -> Float64Array:
    """Draw documents, some of whose values are missing."""
    random = np.random.default_rng(n_documents)
    features = random.normal(size=(n_documents, N_FEATURES))
    features[random.random(features.shape) < _MISSING_SHARE] = np.nan
    return features


def contenders(text: str, folder: Path) -> dict[str, Scorer]:
    """Load a model with every library; the first is Rankery, the second LightGBM."""
    forest, booster = Forest.parse(text), lightgbm.Booster(model_str=text)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    exported = export_model(text, "onnx").content
    session = onnxruntime.InferenceSession(exported, options, providers=["CPUExecutionProvider"])
    input_name = session.get_inputs()[0].name
    path = folder / "model.txt"
    path.write_text(text)
    tree_lite = treelite.frontend.load_lightgbm_model(path)
    return {
        "ours": forest.score,
        "LightGBM": lambda features: booster.predict(features, raw_score=True, num_threads=1),
        "ONNX Runtime": lambda features: session.run(None, {input_name: features.astype(np.float32)}),
        "treelite": lambda features: treelite.gtil.predict(tree_lite, features, nthread=1, pred_margin=True),
    }


def sums(text: str) -> dict[str, Callable[[FloatArray], Any]]:
    """Return the forest, and sums of it with a linear scorer and with a network of two layers."""
    names = tuple(f"f{number}" for number in range(N_FEATURES))
    forest = Member("trees", text.encode(), names, 0.5)
    linear, net = (write_network(network(hidden)) for hidden in ((), (64, 32)))
    others = {
        "and linear": Member("linear", linear, names, 0.5),
        "and linear, in another order of columns": Member("linear", linear, names[::-1], 0.5),
        "and a network": Member("net", net, names, 0.5),
    }
    alone: dict[str, Callable[[FloatArray], Any]] = {"alone": TreeModel(ModelText.read(text)).score}
    return alone | {name: Sum.of([forest, member]).score for name, member in others.items()}


def processor_microseconds(scorers: list[Callable[[], object]]) -> list[float]:
    """Return the first quartiles of alternating measurements; other processes slow some measurements down."""
    nanoseconds: list[list[int]] = [[] for _ in scorers]
    end = time.monotonic() + len(scorers) * MEASURED_SECONDS
    while time.monotonic() < end or len(nanoseconds[0]) < 5:
        for times, scorer in zip(nanoseconds, scorers, strict=True):
            start = time.process_time_ns()
            scorer()
            times.append(time.process_time_ns() - start)
    return [float(np.percentile(times, 25)) / 1e3 for times in nanoseconds]


def compare_sums(console: Console, forests: dict[str, str]) -> None:
    """Measure sums of models and their forest, and print the results."""
    table = Table("forest", "documents", "trees alone µs")
    for name, text in forests.items():
        scorers = sums(text)
        if len(table.columns) == 3:
            for added in list(scorers)[1:]:
                table.add_column(f"{added} (times alone)", justify="right")
        for n_documents in track(DOCUMENTS_OF_SUMS, f"sums of {name}", console=console):
            features = documents(n_documents).astype(np.float32)
            alone, *of_sums = processor_microseconds([partial(score, features) for score in scorers.values()])
            ratios = (f"{each:,.0f} ({each / alone:.2f})" for each in of_sums)
            table.add_row(name, f"{n_documents:,}", f"{alone:,.0f}", *ratios)
    console.print(table)


def main() -> None:
    """Run the benchmark and print the results."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    console = Console()
    table = Table("trees", "leaves", "documents", "equal bits")
    names: list[str] = []
    forests: dict[str, str] = {}
    for n_trees, n_leaves in FORESTS:
        with console.status(f"training {n_trees} trees of {n_leaves} leaves"), TemporaryDirectory() as folder:
            text = model_text(n_trees, n_leaves)
            scorers = contenders(text, Path(folder))
            forests[f"{n_trees} × {n_leaves}"] = text
        if not names:
            names = list(scorers)
            for name in names:
                table.add_column(
                    f"{name} µs" if name == "ours" else f"{name} µs (times ours)", justify="right"
                )
        for n_documents in track(DOCUMENTS, f"{n_trees} × {n_leaves}", console=console):
            features = documents(n_documents)
            equal = np.array_equal(scorers["ours"](features), scorers["LightGBM"](features))
            ours, *theirs = microseconds([partial(score, features) for score in scorers.values()])
            table.add_row(
                *(f"{number:,}" for number in (n_trees, n_leaves, n_documents)),
                "yes" if equal else "NO",
                f"{ours:,.0f}",
                *(f"{other:,.0f} ({other / ours:.1f})" for other in theirs),
            )
    console.print(table)
    compare_sums(console, forests)


if __name__ == "__main__":
    main()
