"""Re-implement how engines read exported forests, following the engines' documentation and source code.

Each function reads a file as strictly as its engine does, and returns a function that scores a document. They
share nothing with the exports' own readers.
"""

import ctypes
import json
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from core.types import Float64Array

Scorer = Callable[[list[float]], float]
Json = dict[str, Any]
float32 = np.float32


def checked(members: Json, required: set[str], optional: frozenset[str] = frozenset()) -> Json:
    """Return an object after a check that it has the required members, and no other but the optional ones."""
    assert required <= set(members) <= required | optional, sorted(members)
    return members


def solr(content: bytes, names: list[str], *, legacy: bool = False) -> Scorer:
    """Return a function that scores as MultipleAdditiveTreesModel.

    Numbers are texts, splits have `missing`, and 1e-6 is added to thresholds.
    """
    model = checked(json.loads(content), {"class", "name", "store", "features", "params"})
    assert model["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    assert [checked(feature, {"name"})["name"] for feature in model["features"]] == names
    checked(model["params"], {"trees"} if legacy else {"trees", "isNullSameAsZero"})
    assert legacy or model["params"]["isNullSameAsZero"] is False

    def number(text: Any) -> Any:
        assert isinstance(text, str)
        return float32({"Infinity": "inf", "-Infinity": "-inf"}.get(text, text))

    def value(node: Json, row: Json) -> Any:
        while "value" not in node:
            checked(node, {"feature", "threshold", "left", "right"} | (set() if legacy else {"missing"}))
            x = row[node["feature"]]
            if np.isnan(x) and not legacy:
                node = node[{"left": "left", "right": "right"}[node["missing"]]]
            else:
                x = float32(0.0) if np.isnan(x) else x
                node = node["left" if x <= float32(number(node["threshold"]) + float32(1e-6)) else "right"]
        return number(checked(node, {"value"})["value"])

    def score(row: list[float]) -> float:
        features, total = dict(zip(names, map(float32, row), strict=True)), float32(0.0)
        for tree in model["params"]["trees"]:
            total = float32(
                total + number(checked(tree, {"weight", "root"})["weight"]) * value(tree["root"], features)
            )
        return float(total)

    return score


def xgboost_json(content: bytes, names: list[str], *, missing: str = "as written") -> Scorer:
    """Return a function that scores as XGBoostJsonParser and NaiveAdditiveDecisionTree.

    Keys are checked strictly, and a document goes left if `threshold > x`.
    """
    model = checked(checked(json.loads(content), {"model"})["model"], {"name", "model"})["model"]
    assert checked(model, {"type", "definition"})["type"] == "model/xgboost+json"
    trees = json.loads(model["definition"])
    assert isinstance(trees, list)

    def check(node: Json) -> None:
        if "leaf" in node:
            checked(node, {"nodeid", "leaf"})
            return
        keys = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
        first, second = checked(node, keys)["children"]
        assert (first["nodeid"], second["nodeid"]) == (node["yes"], node["no"])
        assert node["missing"] in (node["yes"], node["no"])
        assert node["split"] in names
        check(first)
        check(second)

    for tree in trees:
        check(tree)

    def score(row: list[float]) -> float:
        features, total = dict(zip(names, map(float32, row), strict=True)), float32(0.0)
        for tree in trees:
            node = tree
            while "leaf" not in node:
                x = features[node["split"]]
                if np.isnan(x) and missing == "zero":
                    x = float32(0.0)
                if np.isnan(x) and missing == "as written":
                    goes_left = node["missing"] == node["yes"]
                else:
                    with np.errstate(over="ignore"):
                        goes_left = bool(float32(node["split_condition"]) > x)
                node = node["children"][0 if goes_left else 1]
            total = float32(total + float32(node["leaf"]))
        return float(total)

    return score


def vespa(content: bytes, names: list[str], *, single: bool) -> Scorer:
    """Return a function that scores as LightGBMParser does, then FastForest or the Java evaluator.

    FastForest (`single`) has thresholds and leaves in float, the evaluator in double.
    """
    model = json.loads(content)
    assert isinstance(model["objective"], str)
    assert not model["objective"].startswith(("binary", "cross_entropy", "poisson", "gamma", "tweedie"))
    assert model["pandas_categorical"] == []
    assert model["feature_names"] == names
    assert all(not info["values"] for info in model["feature_infos"].values())
    kind: Any = float32 if single else np.float64

    def value(node: Json, row: list[float]) -> float:
        while "left_child" in node or "right_child" in node:
            assert node["decision_type"] == "<="  # Vespa treats any value but == as <=
            x = kind(row[node["split_feature"]])
            with np.errstate(over="ignore"):
                threshold = kind(float(node["threshold"]))
            goes_left = not x >= threshold if node["default_left"] is True else x < threshold
            node = node["left_child" if goes_left else "right_child"]
        return float(kind(node["leaf_value"]))

    def score(row: list[float]) -> float:
        return sum((value(tree["tree_structure"], row) for tree in model["tree_info"]), 0.0)

    return score


def ranklib(content: bytes) -> Scorer:
    """Return a function that scores as the ensemble parser.

    Children are found by position, `<=` is in float32, and missing values are 0.
    """
    first, _, rest = content.decode().partition("\n")
    assert first == "## LambdaMART"
    ensemble = ElementTree.fromstring(rest[rest.index("<ensemble>") :])  # as it skips lines of comment

    def value(split: ElementTree.Element, row: list[float]) -> Any:
        while split[0].tag != "output":
            feature, threshold, left, right = split
            assert (feature.tag, threshold.tag, left.tag, right.tag) == (
                "feature",
                "threshold",
                "split",
                "split",
            )
            assert (left.attrib, right.attrib) == ({"pos": "left"}, {"pos": "right"})
            x = float32(row[int(str(feature.text)) - 1])
            bound = float32(str(threshold.text).strip().replace("Infinity", "inf"))
            split = left if (float32(0.0) if np.isnan(x) else x) <= bound else right
        return float32(str(split[0].text).strip())

    def score(row: list[float]) -> float:
        total = float32(0.0)
        for tree in ensemble:
            assert (tree.tag, float(tree.attrib["weight"]), len(tree)) == ("tree", 1.0, 1)
            total = float32(total + value(tree[0], row))
        return float(total)

    return score


def elastic(content: bytes, names: list[str]) -> Scorer:
    """Return a function that scores by the definition of a model: nodes by index, `lte` in float64."""
    body = checked(json.loads(content), {"inference_config", "definition"}, frozenset({"input"}))
    extractors = body["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert [
        checked(e["query_extractor"], {"feature_name", "query"})["feature_name"] for e in extractors
    ] == names
    ensemble = checked(body["definition"]["trained_model"], {"ensemble"})["ensemble"]
    checked(ensemble, {"target_type", "feature_names", "trained_models", "aggregate_output"})
    assert ensemble["aggregate_output"] == {"weighted_sum": {}}
    assert ensemble["feature_names"] == names
    split_keys = {"decision_type", "left_child", "right_child", "split_feature", "threshold", "default_left"}

    def value(nodes: list[Json], row: list[float]) -> float:
        node = nodes[0]
        while "leaf_value" not in node:
            checked(node, {"node_index"} | split_keys)
            assert node["decision_type"] == "lte"
            x = row[node["split_feature"]]
            goes_left = node["default_left"] if np.isnan(x) else x <= node["threshold"]
            node = nodes[node["left_child" if goes_left else "right_child"]]
        return float(checked(node, {"node_index", "leaf_value"})["leaf_value"])

    trees = []
    for model in ensemble["trained_models"]:
        tree = checked(checked(model, {"tree"})["tree"], {"target_type", "feature_names", "tree_structure"})
        assert (tree["target_type"], tree["feature_names"]) == ("regression", names)
        assert [node["node_index"] for node in tree["tree_structure"]] == list(
            range(len(tree["tree_structure"]))
        )
        trees.append(tree["tree_structure"])
    return lambda row: sum((value(nodes, row) for nodes in trees), 0.0)


def onnx(content: bytes) -> Callable[[Float64Array], Float64Array]:
    """Return a function that scores with ONNX Runtime itself, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options)

    def score(rows: Float64Array) -> Float64Array:
        (scores,) = session.run(None, {"features": rows.astype(float32)})
        return np.asarray(scores[:, 0], np.float64)

    return score


def c(content: bytes, folder: Path, prefix: str) -> Scorer:
    """Compile the file, with all warnings as errors, and return its function."""
    source, library = folder / "model.c", folder / "model.so"
    source.write_bytes(content)
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", str(library), str(source), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    function = loaded[f"{prefix}_score"]
    function.restype = ctypes.c_double
    return lambda row: float(function((ctypes.c_double * len(row))(*row)))


def python(content: bytes) -> Scorer:
    """Execute the module, and return its function."""
    module: Json = {}
    exec(compile(content, "model.py", "exec"), module)
    return lambda row: float(module["score"](row))
