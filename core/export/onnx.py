"""ONNX export: a TreeEnsembleRegressor for a forest, plain operators for a network, both for a sum.

Features are float32. A forest compares `x <= t` and sums leaves in float32. A network and the sum of members
are computed in float64.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from core.errors import ExtraMissing, ModelError
from core.export.networks.evaluation import in_blocks
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.export.nodes import Nodes
from core.export.options import ExportOptions
from core.export.sums.target import SumEngine, SumSource, SumTarget, describe_arithmetics, loaded_trees
from core.export.target import AnySource, Source, Target
from core.export.text import replay_code, within_tolerance
from core.export.thresholds import LARGEST, floor32
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, TreeSource, TreeTarget
from core.scorers import InputTransform, Layer, Network
from core.scorers.kernels import EPSILON
from core.scoring.descent import MissingDirection
from core.types import Float32Array, Float64Array

_TREE_OPERATORS, _FOREST = "ai.onnx.ml", "TreeEnsembleRegressor"
_OPSETS = {"": 15, _TREE_OPERATORS: 3}  # supported by runtimes from 2022 on
_IR = 8
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}
_ROWS = 256  # small, because rank-gauss expands each feature of a document to 63 numbers


class _Onnx(Target[AnySource]):
    """A format of ONNX graphs.

    Attributes:
        tolerance: Largest relative difference from the golden scores.
    """

    name = "onnx"
    filename = "model.onnx"
    media_type = "application/octet-stream"
    reader = "ONNX Runtime, Triton, Vespa and other ONNX runtimes"
    options = frozenset({"model_name", "feature_names"})
    tolerance: ClassVar[str]

    def instructions(self, source: AnySource) -> str:
        """Return Python code that replays the golden vectors."""
        code = replay_code(
            "import json\nimport numpy as np\nimport onnxruntime\n\n"
            f'session = onnxruntime.InferenceSession("{self.filename}")',
            '    row = [np.nan if value is None else value for value in golden["features"].values()]\n'
            '    (score,) = session.run(None, {"features": np.array([row], np.float32)})[0][0]\n',
            within_tolerance(self.tolerance),
        )
        return (
            "The columns of the input are the names under `features` in `golden.jsonl`, in that order; the"
            f" model's metadata\nalso has them as `feature_names`.\n\n{code}"
        )


class OnnxTrees(_Onnx[TreeSource], TreeTarget):
    """ONNX graph of a forest, with one operator."""

    summary = "ONNX with a TreeEnsembleRegressor, float32 features and scores"
    limits = NUMERIC_LIMITS
    nests = False
    tolerance = "1e-5"

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetic of ONNX Runtime, which may sum leaves in another order."""
        return (Arithmetic("ONNX Runtime"),)

    def write(self, source: TreeSource) -> bytes:
        """Write the graph."""
        graph = _Graph(_import_onnx())
        _trees(graph, source, "features", output="scores")
        return _serialized(graph, source, graph.onnx.TensorProto.FLOAT, [_TREE_OPERATORS])

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the trees of the graph."""
        (nodes,) = _trees_of(content)
        return nodes


class OnnxNetwork(_Onnx[NetworkSource], NetworkTarget):
    """ONNX graph of a linear scorer or a network, with plain operators."""

    summary = "ONNX, float32 features, computed in float64"
    limits: ClassVar[tuple[str, ...]] = ()
    tolerance = "1e-9"

    def write(self, source: NetworkSource) -> bytes:
        """Write the graph.

        Raises:
            ExtraMissing: The package onnx is not installed.
        """
        graph = _Graph(_import_onnx())
        graph.add("Identity", _network(graph, source.network, "features"), output="scores")
        return _serialized(graph, source, graph.double)

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Return ONNX Runtime if it is installed, else the evaluator of the package onnx, as the engine."""
        return (_engine_of(content),)


class OnnxSum(_Onnx[SumSource], SumTarget):
    """ONNX graph of a sum: the graphs of its members, with the weighted sum of their scores."""

    summary = "ONNX, float32 features; trees in float32, everything else in float64"
    limits = NUMERIC_LIMITS
    tolerance = "1e-5"
    of_trees = OnnxTrees()
    of_networks = OnnxNetwork()

    def write(self, source: SumSource) -> bytes:
        """Write the graph."""
        graph = _Graph(_import_onnx())
        all_columns = list(range(len(source.features)))
        total = ""
        for part in source.parts:
            features = "features"
            if part.columns.tolist() != all_columns:
                features = graph.add("Gather", features, graph.constant(part.columns), axis=1)
            if isinstance(part.source, TreeSource):
                scores = graph.add("Cast", _trees(graph, part.source, features), to=graph.double)
            else:
                scores = _network(graph, part.source.network, features)
            term = graph.add("Mul", scores, graph.constant(np.float64(part.member.weight)))
            total = graph.add("Add", total, term) if total else term
        graph.add("Identity", total, output="scores")
        return _serialized(graph, source, graph.double, ["", _TREE_OPERATORS])

    def engines(self, content: bytes, source: SumSource) -> tuple[SumEngine, ...]:
        """Return ONNX Runtime if it is installed, else the evaluator of the package onnx, as the engine."""
        forests = [part.source for part in source.parts if isinstance(part.source, TreeSource)]
        written = _trees_of(content)
        if len(forests) != len(written):
            raise ModelError("the number of forests in the export differs from the sum's")
        trees = tuple(
            loaded
            for forest, nodes in zip(forests, written, strict=True)
            for loaded in loaded_trees(self.of_trees, forest, nodes)
        )
        engine = _engine_of(content)
        arithmetic = describe_arithmetics([*(one.arithmetic.description for one in trees), engine.arithmetic])
        return (
            SumEngine(
                engine.name, arithmetic, single=False, finite_only=False, score=engine.score, trees=trees
            ),
        )


def _trees(graph: "_Graph", source: TreeSource, features: str, output: str | None = None) -> str:
    """Add the operator of a forest to a graph; return the name of its output."""
    model_thresholds, nan_left = source.numeric_splits
    nodes = source.nodes
    lengths = np.diff(nodes.roots, append=len(nodes.features))
    trees = np.repeat(np.arange(len(nodes.roots)), lengths)
    first = np.repeat(nodes.roots, lengths)
    node_ids = np.arange(len(nodes.features)) - first
    is_leaf = nodes.features < 0
    modes = np.where(is_leaf, b"LEAF", b"BRANCH_LEQ").tolist()
    columns: dict[str, Any] = {
        "nodes_treeids": trees,
        "nodes_nodeids": node_ids,
        "nodes_featureids": np.maximum(nodes.features, 0),
        "nodes_modes": modes,
        "nodes_values": np.where(is_leaf, 0.0, floor32(model_thresholds)).astype(np.float32),
        "nodes_truenodeids": np.where(is_leaf, 0, node_ids + 1),
        "nodes_falsenodeids": np.where(is_leaf, 0, nodes.right - first),
        "nodes_missing_value_tracks_true": np.where(is_leaf, 0, nan_left),
        "target_treeids": trees[is_leaf],
        "target_nodeids": node_ids[is_leaf],
        "target_ids": np.zeros(np.count_nonzero(is_leaf), np.int64),
        "target_weights": nodes.values[is_leaf].astype(np.float32),
    }
    scores = graph.add(
        _FOREST,
        features,
        output=output,
        domain=_TREE_OPERATORS,
        n_targets=1,
        aggregate_function="SUM",
        post_transform="NONE",
    )
    for name, values in columns.items():
        graph.nodes[-1].attribute.append(_attribute(graph.onnx, name, values))
    return scores


def _trees_of(content: bytes) -> list[Nodes]:
    """Parse the forests of a graph."""
    onnx = _import_onnx()
    operators = onnx.load_model_from_string(content).graph.node
    return [_nodes_of(onnx, operator) for operator in operators if operator.op_type == _FOREST]


def _nodes_of(onnx: Any, operator: Any) -> Nodes:
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in operator.attribute}
    columns = {name: np.array(values) for name, values in attributes.items() if name.startswith("nodes_")}
    trees, node_ids = columns["nodes_treeids"], columns["nodes_nodeids"]
    roots = np.flatnonzero(node_ids == 0)
    is_leaf = columns["nodes_modes"] == b"LEAF"
    values = np.zeros(len(node_ids))
    leaves = roots[np.array(attributes["target_treeids"])] + np.array(attributes["target_nodeids"])
    if not np.array_equal(leaves, np.flatnonzero(is_leaf)):
        raise ModelError("the leaves of the export differ from the leaves of the model")
    values[leaves] = attributes["target_weights"]
    left = columns["nodes_missing_value_tracks_true"] == 1
    return Nodes(
        np.where(is_leaf, -1, columns["nodes_featureids"]),
        columns["nodes_values"].astype(np.float64),
        np.where(left, MissingDirection.LEFT_IF_NAN, MissingDirection.RIGHT_IF_NAN),
        np.where(is_leaf, 0, roots[trees] + columns["nodes_falsenodeids"]),
        values,
        roots,
    )


def _network(graph: "_Graph", network: Network, features: str) -> str:
    """Add the nodes of a network and return the name of its output."""
    units = _inputs(graph, network.inputs, features)
    for index, layer in enumerate(network.layers):
        units = _layer(graph, layer, units)
        if index < len(network.layers) - 1:
            if layer.norm_scales is not None:
                units = _layer_norm(graph, layer, units)
            units = graph.add(_ACTIVATIONS[network.activation], units)
    return units


def _engine_of(content: bytes) -> Engine:
    """Return an evaluator of the graph: ONNX Runtime if installed, else the one of the package onnx."""
    onnx = _import_onnx()
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
        (scores,) = session.run(["scores"], {"features": np.ascontiguousarray(rows, np.float32)})
        return np.asarray(scores[:, 0], np.float64)

    arithmetic = "float32 features; missing features as in the model; everything else in float64"
    return Engine(
        name, arithmetic, single=False, finite_only=False, score=lambda rows: in_blocks(score, rows, _ROWS)
    )


def _inputs(graph: "_Graph", transform: InputTransform, features: str) -> str:
    add, constant = graph.add, graph.constant
    finite = add("LessOrEqual", add("Abs", features), constant(np.float32(LARGEST)))
    filled = add("Where", finite, features, constant(np.float32(0.0)))
    values = add("Cast", filled, to=graph.double)
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
    """Add sign(x) ln(1 + |x|), accurate for small x: ln(u) |x| / (u - 1) with u = 1 + |x| as rounded."""
    add, one = graph.add, graph.constant(np.float64(1.0))
    size = add("Abs", values)
    raised = add("Add", one, size)
    increment = add("Sub", raised, one)
    is_zero = add("Equal", increment, graph.constant(np.float64(0.0)))
    logarithm = add("Mul", add("Log", raised), add("Div", size, add("Where", is_zero, one, increment)))
    return add("Mul", add("Sign", values), add("Where", is_zero, size, logarithm))


def _rank_gauss(graph: "_Graph", transform: InputTransform, values: str) -> str:
    """Add the interpolation as a sum of ramps, each of which rises from 0 to its step between two knots."""
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
    """Nodes and constants, each with a generated name."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.double = onnx.TensorProto.DOUBLE

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        output = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, values: npt.NDArray[Any] | np.generic) -> str:
        """Add a constant and return its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def as_double(self, values: npt.NDArray[Any] | None) -> str:
        """Add a constant stored in float32 and cast to float64."""
        return self.add("Cast", self.constant(np.asarray(values, np.float32)), to=self.double)


def _serialized(graph: _Graph, source: Source, scores: int, domains: Sequence[str] = ("",)) -> bytes:
    """Return the serialized ONNX model of a graph.

    Args:
        graph: Nodes from the input `features` to the output `scores`, and their constants.
    """
    onnx = graph.onnx
    helper, tensor = onnx.helper, onnx.helper.make_tensor_value_info
    graph_proto = helper.make_graph(
        graph.nodes,
        source.name,
        [tensor("features", onnx.TensorProto.FLOAT, ["documents", len(source.features)])],
        [tensor("scores", scores, ["documents", 1])],
        graph.constants,
    )
    operators = [helper.make_opsetid(domain, _OPSETS[domain]) for domain in domains]
    model = helper.make_model(graph_proto, producer_name="rankery", opset_imports=operators, ir_version=_IR)
    helper.set_model_props(model, {"feature_names": "\n".join(source.features)})
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def _import_onnx() -> Any:
    """Import the package onnx on first use, since the import takes a third of a second."""
    try:
        import onnx
    except ImportError as error:
        raise ExtraMissing("an export to ONNX", "onnx") from error
    return onnx


def _attribute(onnx: Any, name: str, values: Any) -> Any:
    """Return an attribute with many values, faster than the library's helper."""
    attribute = onnx.AttributeProto(name=name)
    if isinstance(values, list):
        attribute.type = onnx.AttributeProto.STRINGS
        attribute.strings.extend(values)
    elif values.dtype == np.float32:
        attribute.type = onnx.AttributeProto.FLOATS
        attribute.floats.extend(values.tolist())
    else:
        attribute.type = onnx.AttributeProto.INTS
        attribute.ints.extend(values.tolist())
    return attribute
