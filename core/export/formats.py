"""The registry of export formats, by kind of scorer and name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from core.errors import InvalidInput
from core.export.c import CNetwork, CSum, CTrees
from core.export.elastic import Elastic
from core.export.networks.export import export_network
from core.export.networks.target import NetworkSource, NetworkTarget
from core.export.onnx import OnnxNetwork, OnnxSum, OnnxTrees
from core.export.options import ExportOptions
from core.export.plugins import (
    ElasticsearchLinear,
    ElasticsearchXgboost,
    OpensearchLinear,
    OpensearchXgboost,
)
from core.export.python import PythonNetwork, PythonSum, PythonTrees
from core.export.ranklib import RankLib
from core.export.solr import SolrLinear, SolrNetwork, SolrTrees
from core.export.stored import LightGbm, Safetensors, SafetensorsSum
from core.export.sums.export import export_sum
from core.export.sums.target import SumSource
from core.export.target import Export, Target
from core.export.tree_target import TreeSource, TreeTarget, export_trees
from core.export.vespa import VespaLinear, VespaNetwork, VespaSum, VespaTrees
from core.scorers import Network, Sum, TreeModel, WeightedSum, read_model
from core.types import Precision

T = TypeVar("T", bound=Target[Any])


def _by_name(*targets: T) -> Mapping[str, T]:
    return MappingProxyType({target.name: target for target in targets})


TREE_FORMATS: Mapping[str, TreeTarget] = _by_name(
    LightGbm(),
    VespaTrees(),
    SolrTrees(),
    ElasticsearchXgboost(),
    OpensearchXgboost(),
    RankLib(),
    Elastic(),
    OnnxTrees(),
    CTrees(),
    PythonTrees(),
)
_NETWORKS: tuple[NetworkTarget, ...] = (OnnxNetwork(), CNetwork(), PythonNetwork(), Safetensors())
FORMATS: Mapping[str, Mapping[str, Target[Any]]] = MappingProxyType(
    {
        "trees": TREE_FORMATS,
        "linear": _by_name(
            VespaLinear(), SolrLinear(), ElasticsearchLinear(), OpensearchLinear(), *_NETWORKS
        ),
        "mlp": _by_name(VespaNetwork(), SolrNetwork(), *_NETWORKS),
        "sum": _by_name(VespaSum(), OnnxSum(), CSum(), PythonSum(), SafetensorsSum()),
    }
)
FORMAT_NAMES = tuple(dict.fromkeys(name for formats in FORMATS.values() for name in formats))
_KIND_LABELS = {
    "trees": "a forest",
    "linear": "a linear scorer",
    "mlp": "a network",
    "sum": "a sum of models",
}


def _check_name(format: str) -> None:
    if format not in FORMAT_NAMES:
        raise InvalidInput.at(
            "/format", f"unknown format {format[:40]!r}; known are {', '.join(FORMAT_NAMES)}"
        )


def target_of(kind: str, format: str, options: ExportOptions) -> Target[Any]:
    """Return the target of a format for a kind of scorer.

    Raises:
        InvalidInput: Unknown format, one for other kinds, or options that the format does not support.
    """
    _check_name(format)
    formats = FORMATS[kind]
    if format not in formats:
        advice = (
            "; or distil the sum into a forest" if kind == WeightedSum.kind and format in TREE_FORMATS else ""
        )
        raise InvalidInput.at(
            "/format",
            f"{format} cannot express {_KIND_LABELS[kind]}; use one of {', '.join(formats)}{advice}",
        )
    options.check(formats[format].options, format)
    return formats[format]


def export_model(
    model_text: str | bytes,
    format: str,
    feature_names: tuple[str, ...] | None = None,
    name: str = "model",
    options: ExportOptions | None = None,
    precision: Precision = "float32",
) -> Export:
    """Convert a model.

    Args:
        model_text: The stored file: LightGBM's text, or the safetensors file of another scorer.
        format: Name of a format in `FORMATS` for the model's kind.
        feature_names: Names of the model's features; None for the names in the file.
        precision: Precision of the features of trees; a sum has those of its members.

    Raises:
        InvalidInput: Unknown format, or options that the format does not support.
        ModelError: The file is invalid, or the format cannot express the model.
    """
    _check_name(format)
    content = model_text.encode() if isinstance(model_text, str) else model_text
    model, options = read_model(content), options or ExportOptions()
    target = target_of(model.kind, format, options)
    names = options.names_of(feature_names or model.feature_names)
    common: dict[str, Any] = {
        "content": content,
        "name": options.model_name or name,
        "features": names,
        "options": options,
    }
    if isinstance(model, TreeModel):
        return export_trees(TREE_FORMATS[format], TreeSource(text=model.text, precision=precision, **common))
    if isinstance(model, Network):
        return export_network(target, NetworkSource(network=model, **common))
    if isinstance(model, Sum):
        return export_sum(target, SumSource(sum_model=model, **common))
    raise TypeError(type(model))
