"""A graph of plain ONNX operators: float32 features in, everything else in float64, float64 scores out."""

from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import ExtraMissing
from core.export.networks.evaluation import in_blocks
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.export.thresholds import LARGEST
from core.scorers import InputTransform, Layer, Network
from core.scorers.kernels import EPSILON
from core.types import Float32Array, Float64Array

_OPSET, _IR = 15, 8  # what runtimes of 2022 read already
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}
_ROWS = 256  # rank-gauss makes 63 numbers of each feature of a document


class Onnx(NetworkTarget):
    """The network as a graph."""

    name = "onnx"
    filename = "model.onnx"
    media_type = "application/octet-stream"
    reader = "ONNX Runtime, Triton, Vespa and whatever else reads ONNX"
    summary = "ONNX, float32 features in, computed in float64"
    options = frozenset({"model_name", "feature_names"})
    limits = ()

    def write(self, source: NetworkSource) -> bytes:
        """Write the graph."""
        return written(source)

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Return ONNX Runtime where it is installed, else the evaluator of the package onnx."""
        return (engine_of(content),)

    def instructions(self, source: NetworkSource) -> str:
        """Show it in Python."""
        return f"""\
The columns of the input are the names under `features` in `golden.jsonl`, in that order; the model's metadata
has them as `feature_names`, too.

```python
import json
import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession("{self.filename}")
for line in open("golden.jsonl", encoding="utf-8"):
    golden = json.loads(line)
    row = [np.nan if value is None else value for value in golden["features"].values()]
    (score,) = session.run(None, {{"features": np.array([row], np.float32)}})[0][0]
    assert abs(score - golden["score"]) <= 1e-9 * max(1.0, abs(golden["score"])), golden["id"]
```
"""


def written(source: NetworkSource) -> bytes:
    """Return the bytes of the graph of a network.

    Raises:
        ExtraMissing: The package onnx is not installed.
    """
    graph = _Graph(_onnx())
    network = source.network
    units = _inputs(graph, network.inputs)
    for place, layer in enumerate(network.layers):
        units = _layer(graph, layer, units)
        if place < len(network.layers) - 1:
            if layer.norm_scales is not None:
                units = _layer_norm(graph, layer, units)
            units = graph.add(_ACTIVATIONS[network.activation], units)
    graph.add("Identity", units, output="scores")
    return graph.packed(source.name, network, source.features)


def engine_of(content: bytes) -> Engine:
    """Return what evaluates a graph: ONNX Runtime, or the package onnx where there is none."""
    onnx = _onnx()
    session: Any
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        name, session = f"reference evaluator of onnx {onnx.__version__}", ReferenceEvaluator(content)
    else:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        name = f"ONNX Runtime {onnxruntime.__version__}"
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def score(rows: Float32Array) -> Float64Array:
        (found,) = session.run(["scores"], {"features": np.ascontiguousarray(rows, np.float32)})
        return np.asarray(found[:, 0], np.float64)

    arithmetic = "float32 features; missing features as in the model; everything else in float64"
    return Engine(
        name, arithmetic, single=False, finite=False, score=lambda rows: in_blocks(score, rows, _ROWS)
    )


def _inputs(graph: "_Graph", transform: InputTransform) -> str:
    add, constant = graph.add, graph.constant
    finite = add("LessOrEqual", add("Abs", "features"), constant(np.float32(LARGEST)))
    known = add("Where", finite, "features", constant(np.float32(0.0)))
    values = add("Cast", known, to=graph.double)
    if transform.log1p:
        values = _signed_log1p(graph, values)
    if transform.kind == "standard":
        centred = add("Sub", values, constant(transform.means))
        values = add("Div", centred, constant(transform.deviations))
    elif transform.kind == "rank-gauss":
        values = _rank_gauss(graph, transform, values)
    inputs = add("Where", finite, values, constant(np.float64(0.0)))
    if not len(transform.indicators):
        return inputs
    missing = add("Cast", add("Not", finite), to=graph.double)
    return add("Concat", inputs, add("Gather", missing, constant(transform.indicators), axis=1), axis=1)


def _signed_log1p(graph: "_Graph", values: str) -> str:
    """Take sign(x) ln(1 + |x|), of small values too: ln(u) |x| / (u - 1) with u = 1 + |x| as rounded."""
    add, one = graph.add, graph.constant(np.float64(1.0))
    size = add("Abs", values)
    raised = add("Add", one, size)
    gained = add("Sub", raised, one)
    nothing = add("Equal", gained, graph.constant(np.float64(0.0)))
    logarithm = add("Mul", add("Log", raised), add("Div", size, add("Where", nothing, one, gained)))
    return add("Mul", add("Sign", values), add("Where", nothing, size, logarithm))


def _rank_gauss(graph: "_Graph", transform: InputTransform, values: str) -> str:
    """Interpolate as a sum of ramps, each of which rises from 0 to its step between two knots."""
    add, constant = graph.add, graph.constant
    widths, steps = np.diff(transform.knots), np.diff(transform.targets)
    repeated = widths <= 0.0
    widths, steps = np.where(repeated, 1.0, widths), np.where(repeated, 0.0, steps)
    columns = add("Unsqueeze", values, constant(np.array([2], np.int64)))
    shares = add("Div", add("Sub", columns, constant(transform.knots[:, :-1])), constant(widths))
    zero, one = constant(np.float64(0.0)), constant(np.float64(1.0))
    ramps = add("Mul", add("Min", add("Max", shares, zero), one), constant(steps))
    total = add("ReduceSum", ramps, constant(np.array([2], np.int64)), keepdims=0)
    return add("Add", total, constant(transform.targets[:, 0]))


def _layer(graph: "_Graph", layer: Layer, units: str) -> str:
    weights, bias = graph.as_double(layer.weights), graph.as_double(layer.bias)
    return graph.add("Add", graph.add("MatMul", units, weights), bias)


def _layer_norm(graph: "_Graph", layer: Layer, units: str) -> str:
    add = graph.add
    centred = add("Sub", units, add("ReduceMean", units, axes=[1]))
    variance = add("ReduceMean", add("Mul", centred, centred), axes=[1])
    deviation = add("Sqrt", add("Add", variance, graph.constant(np.float64(EPSILON))))
    scaled = add("Mul", add("Div", centred, deviation), graph.as_double(layer.norm_scales))
    return add("Add", scaled, graph.as_double(layer.norm_shifts))


class _Graph:
    """Nodes and constants as they are added, each with a name of its own."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self.double = onnx.TensorProto.DOUBLE

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        output = output or f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, values: npt.NDArray[Any] | np.generic) -> str:
        """Add a constant and return its name."""
        name = f"constant_{len(self._constants)}"
        array = np.ascontiguousarray(values) if np.ndim(values) else np.asarray(values)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def as_double(self, values: npt.NDArray[Any] | None) -> str:
        """Add a constant of float32, as which it is stored, that is taken for float64."""
        return self.add("Cast", self.constant(np.asarray(values, np.float32)), to=self.double)

    def packed(self, name: str, network: Network, features: tuple[str, ...]) -> bytes:
        """Return the bytes of the model."""
        helper, tensor = self._onnx.helper, self._onnx.helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes,
            name,
            [tensor("features", self._onnx.TensorProto.FLOAT, ["documents", network.n_features])],
            [tensor("scores", self.double, ["documents", 1])],
            self._constants,
        )
        operators = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, producer_name="rankery", opset_imports=operators, ir_version=_IR)
        helper.set_model_props(model, {"feature_names": "\n".join(features)})
        self._onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))


def _onnx() -> Any:
    """Import the package, which takes a third of a second and is needed here alone.

    Raises:
        ExtraMissing: It is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise ExtraMissing("an export to ONNX", "onnx") from error
    return onnx
