"""ONNX's TreeEnsembleRegressor, `x <= t` in float32."""

from typing import Any

import numpy as np

from core.errors import ExtraMissing, ModelError
from core.export.nodes import Nodes
from core.export.options import ExportOptions
from core.export.thresholds import floor32
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, TreeSource, TreeTarget
from core.scoring.descent import MissingGo

_OPERATORS = "ai.onnx.ml"
_OPSET, _IR = 3, 8  # what runtimes of 2022 read already


class Onnx(TreeTarget):
    """A graph of one operator."""

    name = "onnx"
    filename = "model.onnx"
    media_type = "application/octet-stream"
    reader = "ONNX Runtime, Triton, Vespa and whatever else reads ONNX"
    summary = "ONNX with a TreeEnsembleRegressor, float32 in and out"
    options = frozenset({"model_name", "feature_names"})
    limits = NUMERIC_LIMITS
    nests = False

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return ONNX Runtime's; it may add leaves up in another order."""
        return (Arithmetic("ONNX Runtime"),)

    def write(self, source: TreeSource) -> bytes:
        """Write the graph."""
        onnx = _onnx()

        wanted, nan_left = source.numeric
        nodes = source.nodes
        lengths = np.diff(nodes.roots, append=len(nodes.features))
        trees = np.repeat(np.arange(len(nodes.roots)), lengths)
        first = np.repeat(nodes.roots, lengths)
        own = np.arange(len(nodes.features)) - first
        is_leaf = nodes.features < 0
        modes = np.where(is_leaf, b"LEAF", b"BRANCH_LEQ").tolist()
        columns: dict[str, Any] = {
            "nodes_treeids": trees,
            "nodes_nodeids": own,
            "nodes_featureids": np.maximum(nodes.features, 0),
            "nodes_modes": modes,
            "nodes_values": np.where(is_leaf, 0.0, floor32(wanted)).astype(np.float32),
            "nodes_truenodeids": np.where(is_leaf, 0, own + 1),
            "nodes_falsenodeids": np.where(is_leaf, 0, nodes.right - first),
            "nodes_missing_value_tracks_true": np.where(is_leaf, 0, nan_left),
            "target_treeids": trees[is_leaf],
            "target_nodeids": own[is_leaf],
            "target_ids": np.zeros(np.count_nonzero(is_leaf), np.int64),
            "target_weights": nodes.values[is_leaf].astype(np.float32),
        }
        operator = onnx.helper.make_node(
            "TreeEnsembleRegressor",
            ["features"],
            ["scores"],
            domain=_OPERATORS,
            n_targets=1,
            aggregate_function="SUM",
            post_transform="NONE",
        )
        for name, values in columns.items():
            operator.attribute.append(_attribute(onnx, name, values))
        tensor = onnx.helper.make_tensor_value_info
        kind = onnx.TensorProto.FLOAT
        graph = onnx.helper.make_graph(
            [operator],
            source.name,
            [tensor("features", kind, ["documents", len(source.features)])],
            [tensor("scores", kind, ["documents", 1])],
        )
        operators = [onnx.helper.make_opsetid(_OPERATORS, _OPSET)]
        model = onnx.helper.make_model(
            graph, producer_name="rankery", opset_imports=operators, ir_version=_IR
        )
        onnx.helper.set_model_props(model, {"feature_names": "\n".join(source.features)})
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Read the trees."""
        onnx = _onnx()
        (operator,) = onnx.load_model_from_string(content).graph.node
        found = {
            attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in operator.attribute
        }
        columns = {name: np.array(values) for name, values in found.items() if name.startswith("nodes_")}
        trees, own = columns["nodes_treeids"], columns["nodes_nodeids"]
        roots = np.flatnonzero(own == 0)
        is_leaf = columns["nodes_modes"] == b"LEAF"
        values = np.zeros(len(own))
        leaves = roots[np.array(found["target_treeids"])] + np.array(found["target_nodeids"])
        if not np.array_equal(leaves, np.flatnonzero(is_leaf)):
            raise ModelError("the leaves of the export are not those of the model")
        values[leaves] = found["target_weights"]
        left = columns["nodes_missing_value_tracks_true"] == 1
        return Nodes(
            np.where(is_leaf, -1, columns["nodes_featureids"]),
            columns["nodes_values"].astype(np.float64),
            np.where(left, MissingGo.LEFT_IF_NAN, MissingGo.RIGHT_IF_NAN),
            np.where(is_leaf, 0, roots[trees] + columns["nodes_falsenodeids"]),
            values,
            roots,
        )

    def instructions(self, source: TreeSource) -> str:
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
    assert abs(score - golden["score"]) <= 1e-5 * max(1.0, abs(golden["score"])), golden["id"]
```
"""


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


def _attribute(onnx: Any, name: str, values: Any) -> Any:
    """Make an attribute of many numbers; the library's own helper looks at each of them several times."""
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
