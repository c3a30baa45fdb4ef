"""Exports to source code: forests and networks as tables of numbers, which are read back from the code.

Forests are evaluated in float64 node by node, as in LightGBM. Networks are computed in float64 without fused
multiply-add, which the service may use, so that the last digits of sums may differ.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from core.errors import ModelError
from core.export.networks.evaluation import engine_in_doubles
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.export.nodes import Nodes
from core.export.options import ExportOptions
from core.export.target import AnySource, Target
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, TreeSource, TreeTarget, require_expressible
from core.scorers import InputTransform, Layer, Network
from core.scorers.network_file import NORMS

Arrays = Mapping[str, Any]
_ROW = re.compile(r"^ +[{(](-?\d+), ([^ ,]+), (\d), (\d+)[})],$", re.MULTILINE)
_ROOT = re.compile(r"^ +(\d+),$", re.MULTILINE)


class SourceCode(Target[AnySource]):
    """Source code of a model of any kind.

    Attributes:
        precision: Text on the precision at the end of the file's first line.
        missing: Sentences on missing features in the file's head.
    """

    precision: ClassVar[str] = ""
    missing: ClassVar[str]
    media_type = "text/plain; charset=utf-8"
    options = frozenset({"model_name", "feature_names"})


class TreeCode(SourceCode[TreeSource], TreeTarget):
    """Source code with the trees as a table, one node per line.

    Attributes:
        row: Format of a line: feature or -1, threshold or value, `MissingDirection`, right child.
    """

    row: ClassVar[str]
    infinity: ClassVar[str]
    precision = ", bit-identical to LightGBM's score"
    limits = NUMERIC_LIMITS[:1]
    nests = False

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return LightGBM's arithmetic."""
        return (
            Arithmetic(self.reader, single=False, tiny_is_zero=True, single_sum=False, float64_exact=True),
        )

    def check(self, source: TreeSource) -> None:
        """Refuse models that are not sums of constant leaves; all numerical splits can be expressed."""
        require_expressible(source.text, self.name)

    def tables(self, nodes: Nodes) -> dict[str, str]:
        """Return the lines of the tables of nodes and of roots, by name."""
        numbers = np.where(nodes.features < 0, nodes.values, nodes.thresholds).tolist()
        columns = zip(
            nodes.features.tolist(), numbers, nodes.missing_side.tolist(), nodes.right.tolist(), strict=True
        )
        rows = (
            self.row % (feature, repr(number).replace("inf", self.infinity), missing_side, right)
            for feature, number, missing_side, right in columns
        )
        return {
            "nodes": "\n".join(rows),
            "roots": "\n".join(f"    {root}," for root in nodes.roots.tolist()),
        }

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the tables of the code."""
        text = content.decode()
        rows = _ROW.findall(text)
        features, missing_side, right = (np.array([int(row[column]) for row in rows]) for column in (0, 2, 3))
        numbers = np.array([float(row[1].lower().replace("infinity", "inf")) for row in rows])
        is_leaf = features < 0
        return Nodes(
            features,
            np.where(is_leaf, 0.0, numbers),
            missing_side,
            right,
            np.where(is_leaf, numbers, 0.0),
            np.array([int(root) for root in _ROOT.findall(text)]),
        )


class NetworkCode(SourceCode[NetworkSource], NetworkTarget):
    """Source code with the weights as tables.

    Attributes:
        log1p: The code that applies log1p.
        before_log1p: The code in front of `log1p`, which cannot occur in the name of a feature.
    """

    activations: ClassVar[Mapping[str, str]]
    log1p: ClassVar[str]
    before_log1p: ClassVar[str]
    before_activation: ClassVar[str]
    limits = ()

    @abstractmethod
    def arrays(self, text: str) -> Arrays:
        """Parse the tables in the code, those of `tables_of`, as flat lists by name."""

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Parse the tables, and return an engine that evaluates them by NumPy as the code does.

        Raises:
            ModelError: The tables are not those of a network.
        """
        text = content.decode()
        activations = self.activations.items()
        names = [name for name, code in activations if f"\n{self.before_activation}{code}" in text]
        if len(names) != 1:
            raise ModelError("the export must have one activation")
        network = network_of(
            self.arrays(text),
            source.features,
            log1p=f"\n{self.before_log1p}{self.log1p}" in text,
            activation=names[0],
        )
        return (engine_in_doubles(self.reader, network),)


def tables_of(network: Network) -> dict[str, Any]:
    """Return the arrays of a network by their names in source code."""
    tables: dict[str, Any] = network.inputs.arrays()
    indicators = tables.pop("indicators")
    if len(indicators):
        tables["indicators"] = indicators
    for index, layer in enumerate(network.layers):
        tables |= {f"{name}_{index}": array for name, array in layer.arrays().items()}
    return tables


def network_of(arrays: Arrays, features: tuple[str, ...], *, log1p: bool, activation: str) -> Network:
    """Return the network with the given tables, the inverse of `tables_of` for flat lists.

    Raises:
        ModelError: The sizes of tables do not match.
    """
    n_features = len(features)
    kind = "standard" if "means" in arrays else "rank-gauss" if "knots" in arrays else "none"
    shapes = {"means": (-1,), "deviations": (-1,), "knots": (n_features, -1), "targets": (n_features, -1)}
    indicators = np.array(arrays.get("indicators", ()), np.int64)
    layers: list[Layer] = []
    n_inputs = n_features + len(indicators)
    try:
        while f"weights_{len(layers)}" in arrays:
            index = len(layers)
            flat = np.array(arrays[f"weights_{index}"], np.float32)
            norms = (
                np.array(arrays[name], np.float32) if (name := f"{norm}_{index}") in arrays else None
                for norm in NORMS
            )
            bias = np.array(arrays[f"bias_{index}"], np.float32)
            layers.append(Layer(flat.reshape(n_inputs, len(bias)), bias, *norms))
            n_inputs = len(bias)
        inputs = {
            name: np.array(arrays[name], np.float64).reshape(shape)
            for name, shape in shapes.items()
            if name in arrays
        }
    except (KeyError, ValueError) as error:
        raise ModelError("the tables of the export differ from the tables of the model") from error
    description = {"kind": kind, "log1p": log1p, "n_features": n_features}
    transform = InputTransform.restored(description, {**inputs, "indicators": indicators})
    return Network(features, transform, tuple(layers), activation)


def layer_names(index: int, layer: Layer) -> list[str | None]:
    """Return the names of the tables of weights, bias, norm's scales and norm's shifts; None for no table."""
    return [None if array is None else f"{name}_{index}" for name, array in vars(layer).items()]
