"""Every export format by name, and what becomes of a model in one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from core.errors import InvalidInput
from core.export.c import C
from core.export.elastic import Elastic
from core.export.lightgbm import LightGbm
from core.export.nodes import Nodes, require_same_shape
from core.export.onnx import Onnx
from core.export.options import ExportOptions
from core.export.python import Python
from core.export.ranklib import RankLib
from core.export.solr import Solr
from core.export.target import Arithmetic, Source, Target
from core.export.vespa import Vespa
from core.export.xgboost_json import ElasticsearchXgboost, OpensearchXgboost
from core.scoring.model_text import ModelText

FORMATS: Mapping[str, Target] = MappingProxyType(
    {
        target.name: target
        for target in (
            LightGbm(),
            Vespa(),
            Solr(),
            ElasticsearchXgboost(),
            OpensearchXgboost(),
            RankLib(),
            Elastic(),
            Onnx(),
            C(),
            Python(),
        )
    }
)


@dataclass(frozen=True)
class Export:
    """A model in the form that another program reads.

    Attributes:
        target: The format.
        source: What was written.
        content: The file.
    """

    target: Target
    source: Source
    content: bytes

    @cached_property
    def written(self) -> Nodes:
        """Read back what was written.

        Raises:
            ModelError: Its trees are not those of the model.
        """
        nodes = self.target.read(self.content, self.source)
        require_same_shape(self.source.nodes, nodes)
        return nodes


def export_model(
    model_text: str | bytes,
    format: str,
    feature_names: tuple[str, ...] | None = None,
    name: str = "model",
    options: ExportOptions | None = None,
) -> Export:
    """Convert a model.

    Args:
        model_text: LightGBM's text.
        format: One of `FORMATS`.
        feature_names: What the model's features are called; as in the text when left out.
        name: What the model is called.
        options: What is said about the export.

    Raises:
        InvalidInput: For an unknown format, or options that it does not take.
        ModelError: When the model cannot be expressed in the format, or is none.
    """
    target, options = FORMATS.get(format), options or ExportOptions()
    if target is None:
        raise InvalidInput.at("/format", f"unknown format {format[:40]!r}; known are {', '.join(FORMATS)}")
    options.check(target.options, format)
    content = model_text.encode() if isinstance(model_text, str) else model_text
    text = ModelText.read(content)
    names = options.names_of(feature_names or text.feature_names)
    source = Source(text, content, options.model_name or name, names, options)
    target.check(source)
    if options.score_shift:
        source = replace(source, shift=_shift(source.nodes, target.arithmetics(options)[0]))
    return Export(target, source, target.write(source))


def _shift(nodes: Nodes, arithmetic: Arithmetic) -> float:
    """Return what raises scores so that the least that leaves can add up to becomes exactly 0.

    Rounded sums are monotone: no document has less than the one that falls into the least leaf of each tree,
    and what is added to that one's sum takes it to 0.
    """
    kind = np.float32 if arithmetic.single_sum else np.float64
    total = kind(0.0)
    for tree in range(len(nodes.roots)):
        own = nodes.of_tree(tree)
        values, is_leaf = nodes.values[own.start : own.stop], nodes.features[own.start : own.stop] < 0
        total = kind(total + kind(values[is_leaf].min()))
    return -float(total)
