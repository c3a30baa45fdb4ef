"""Exports of linear scorers and networks, one file a format."""

from collections.abc import Mapping
from types import MappingProxyType

from core.export.networks.c import C
from core.export.networks.onnx import Onnx
from core.export.networks.plugins import ElasticsearchLinear, OpensearchLinear
from core.export.networks.python import Python
from core.export.networks.solr import SolrLinear, SolrNetwork
from core.export.networks.stored import Stored
from core.export.networks.target import NetworkExport, NetworkSource, NetworkTarget, export_network
from core.export.networks.vespa import VespaExpression, VespaOnnx

_ALIKE: tuple[NetworkTarget, ...] = (Onnx(), C(), Python(), Stored())


def _by_name(*targets: NetworkTarget) -> Mapping[str, NetworkTarget]:
    return MappingProxyType({target.name: target for target in targets})


LINEAR_FORMATS = _by_name(VespaExpression(), SolrLinear(), ElasticsearchLinear(), OpensearchLinear(), *_ALIKE)
MLP_FORMATS = _by_name(VespaOnnx(), SolrNetwork(), *_ALIKE)

__all__ = [
    "LINEAR_FORMATS",
    "MLP_FORMATS",
    "NetworkExport",
    "NetworkSource",
    "NetworkTarget",
    "export_network",
]
