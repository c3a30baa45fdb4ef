"""Microseconds to score documents with a network on one thread, compared with ONNX Runtime; medians.

ONNX Runtime computes the same graph: float32 features, cast, missing values replaced, standardised, matrix
products with relu between them. The graph in double has the precision of Rankery, the graph in float half
that precision. Measurements alternate. Numbers in parentheses are multiples of Rankery's time. Differences
are the largest from Rankery's scores, relative to the largest score.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.scorers import InputTransform, Layer, Network
from core.types import Float32Array

N_FEATURES = 136
HIDDEN = ((), (64, 32), (128, 128))
DOCUMENTS = (1, 10, 100, 1_000)
MEASURED_SECONDS = 1.5
_MISSING_SHARE = 0.02
_OPSET, _IR = 17, 8


def documents(n_documents: int) -> Float32Array:
    """Draw documents, some of whose values are missing."""
    random = np.random.default_rng(n_documents)
    features = random.normal(size=(n_documents, N_FEATURES)).astype(np.float32)
    features[random.random(features.shape) < _MISSING_SHARE] = np.nan
    return features


def network(hidden: tuple[int, ...]) -> Network:
    """Draw a network of relu units."""
    random = np.random.default_rng(0)
    inputs = InputTransform.fit(documents(5_000), kind="standard", log1p=False, missing_indicators=False)
    layers, n_inputs = [], N_FEATURES
    for n_units in (*hidden, 1):
        weights = random.normal(size=(n_inputs, n_units)) / np.sqrt(n_inputs)
        layers.append(Layer(weights.astype(np.float32), random.normal(size=n_units).astype(np.float32)))
        n_inputs = n_units
    return Network(tuple(f"f{number}" for number in range(N_FEATURES)), inputs, tuple(layers))


def session(model: Network, kind: int, dtype: type) -> Any:
    """Return a session of ONNX Runtime with one thread."""
    nodes = [
        helper.make_node("Cast", ["features"], ["values"], to=kind),
        helper.make_node("IsNaN", ["values"], ["missing"]),
        helper.make_node("Sub", ["values", "means"], ["centred"]),
        helper.make_node("Div", ["centred", "deviations"], ["scaled"]),
        helper.make_node("Where", ["missing", "zero", "scaled"], ["units0"]),
    ]
    constants = {"means": model.inputs.means, "deviations": model.inputs.deviations, "zero": np.array(0.0)}
    last = len(model.layers) - 1
    for number, layer in enumerate(model.layers):
        constants |= {f"weights{number}": layer.weights, f"bias{number}": layer.bias}
        output = "scores" if number == last else f"sums{number}"
        inputs = [f"units{number}", f"weights{number}"]
        nodes.append(helper.make_node("MatMul", inputs, [f"products{number}"]))
        nodes.append(helper.make_node("Add", [f"products{number}", f"bias{number}"], [output]))
        if number < last:
            nodes.append(helper.make_node("Relu", [output], [f"units{number + 1}"]))
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, N_FEATURES])],
        [helper.make_tensor_value_info("scores", kind, [None, 1])],
        [numpy_helper.from_array(np.asarray(array, dtype), name) for name, array in constants.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def microseconds(scorers: list[Callable[[], object]]) -> list[float]:
    """Return the medians of alternating measurements."""
    seconds: list[list[float]] = [[] for _ in scorers]
    end = time.monotonic() + MEASURED_SECONDS
    while time.monotonic() < end or len(seconds[0]) < 5:
        for times, scorer in zip(seconds, scorers, strict=True):
            start = time.perf_counter()
            scorer()
            times.append(time.perf_counter() - start)
    return [statistics.median(times) * 1e6 for times in seconds]


def main() -> None:
    """Run the benchmark and print the results."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    console = Console()
    table = Table("hidden", "documents", "Rankery µs", "ONNX Runtime double µs", "float µs", "differences")
    for hidden in HIDDEN:
        model = network(hidden)
        sessions = [
            session(model, TensorProto.DOUBLE, np.float64),
            session(model, TensorProto.FLOAT, np.float32),
        ]
        for n_documents in track(DOCUMENTS, f"{hidden}", console=console):
            features = documents(n_documents)
            scores = model.score(features)
            their_scores = [each.run(None, {"features": features})[0][:, 0] for each in sessions]
            differences = [np.abs(each - scores).max() / np.abs(scores).max() for each in their_scores]
            runs = [partial(each.run, None, {"features": features}) for each in sessions]
            ours, *theirs = microseconds([partial(model.score, features), *runs])
            table.add_row(
                " × ".join(map(str, hidden)) or "linear",
                f"{n_documents:,}",
                f"{ours:,.1f}",
                *(f"{other:,.1f} ({other / ours:.2f})" for other in theirs),
                ", ".join(f"{difference:.0e}" for difference in differences),
            )
    console.print(table)


if __name__ == "__main__":
    main()
