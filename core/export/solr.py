"""Solr's MultipleAdditiveTreesModel.

Solr goes left where `x <= threshold + 1e-6`, added in float32, so thresholds are written that the sum takes
to where they belong. Its setters take numbers as texts, and whether NULL is 0 as a boolean.
"""

import json
from collections.abc import Mapping

import numpy as np

from core.export.nested import float32_text, nested
from core.export.nodes import Nodes, Split
from core.export.options import ExportOptions
from core.export.target import Source
from core.export.thresholds import before_slack
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, Missing, TreeSource, TreeTarget
from core.scoring.descent import MissingGo

ZOOKEEPER_BYTES = 1_000_000  # jute.maxbuffer is 0xfffff, of which Solr's managed resource needs some itself
_CLASS = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"


class Solr(TreeTarget):
    """A model for Solr's model store."""

    name = "solr"
    filename = "model.json"
    media_type = "application/json"
    reader = "Solr's Learning to Rank"
    summary = "MultipleAdditiveTreesModel for Solr's model store"
    options = frozenset(
        {"target_version", "model_name", "feature_set", "feature_names", "score_shift", "never_missing"}
    )
    limits = (
        *NUMERIC_LIMITS,
        "thresholds under about 1e-6, and some powers of two below 0, are met nearly: parity counts them",
        "before Solr 9.2, missing values that go elsewhere than 0 does",
    )
    way_out = "Solr 9.2 and later follow the split."

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return that of the version."""
        if _legacy(options):
            return (Arithmetic("Solr before 9.2", slack=True, missing=Missing.ZERO),)
        return (Arithmetic("Solr 9.2 and later", slack=True),)

    def write(self, source: TreeSource) -> bytes:
        """Write the model as the model store takes it."""
        wanted, nan_left = source.numeric
        nodes, legacy = source.nodes, _legacy(source.options)
        names = [json.dumps(name) for name in source.features]
        features, values = nodes.features.tolist(), nodes.values.astype(np.float32).tolist()
        thresholds, left = before_slack(wanted).tolist(), nan_left.tolist()

        def split(node: int, below_left: str, below_right: str) -> str:
            missing = "" if legacy else f'"missing":"{"left" if left[node] else "right"}",'
            return (
                f'{{"feature":{names[features[node]]},"threshold":"{java_float(thresholds[node])}",{missing}'
                f'"left":{below_left},"right":{below_right}}}'
            )

        trees = nested(nodes, lambda node: f'{{"value":"{java_float(values[node])}"}}', split)
        head = {
            "class": _CLASS,
            "name": source.name,
            "store": source.feature_set,
            "features": [{"name": name} for name in source.features],
        }
        nulls = "" if legacy else '"isNullSameAsZero":false,'
        written = ",".join(f'{{"weight":"1","root":{tree}}}' for tree in trees)
        return f'{json.dumps(head)[:-1]}, "params": {{{nulls}"trees":[{written}]}}}}\n'.encode()

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Read the trees."""
        places = {name: place for place, name in enumerate(source.features)}

        def ask(node: dict[str, object]) -> float | tuple[Split, dict[str, object], dict[str, object]]:
            if "value" in node:
                return float(str(node["value"]))
            way = MissingGo.LEFT_IF_NAN if node.get("missing") == "left" else MissingGo.RIGHT_IF_NAN
            split = Split(places[str(node["feature"])], float(str(node["threshold"])), way)
            return split, node["left"], node["right"]  # type: ignore[return-value]

        trees = json.loads(content)["params"]["trees"]
        return Nodes.walked((tree["root"] for tree in trees), ask)

    def companions(self, source: TreeSource, content: bytes) -> Mapping[str, bytes]:
        """Return features to start from, and the wrapper of a model that is too large for ZooKeeper."""
        default = None if _legacy(source.options) else "NaN"
        return companion_files(source, content, [default] * len(source.features))

    def notes(self, source: TreeSource, content: bytes) -> list[str]:
        """Warn of a model that ZooKeeper will not take."""
        return zookeeper_notes(content)

    def instructions(self, source: TreeSource) -> str:
        """Show the two requests."""
        missing = "" if _legacy(source.options) else ' Keep `"defaultValue": "NaN"`: missing is then missing.'
        return store_instructions(source, self.filename, missing)


def companion_files(source: Source, content: bytes, defaults: list[str | None]) -> dict[str, bytes]:
    """Return features to start from, and the wrapper of a model that is too large for ZooKeeper.

    Args:
        source: The model.
        content: The file for the model store.
        defaults: What each feature is where a document has none, None for what Solr takes.
    """
    features = [
        {
            "store": source.feature_set,
            "name": name,
            "class": "org.apache.solr.ltr.feature.FieldValueFeature",
            "params": {"field": name, **({} if default is None else {"defaultValue": default})},
        }
        for name, default in zip(source.features, defaults, strict=True)
    ]
    files = {"features.json": _json(features)}
    if _too_large(content):
        files["wrapper.json"] = _json(
            {
                "class": "org.apache.solr.ltr.model.DefaultWrapperModel",
                "name": source.name,
                "store": source.feature_set,
                "params": {"resource": f"{source.name}.json"},
            }
        )
    return files


def zookeeper_notes(content: bytes) -> list[str]:
    """Warn of a model that ZooKeeper will not take."""
    if not _too_large(content):
        return []
    return [
        f"The model has {len(content):,} bytes, more than ZooKeeper's 1 MB: upload wrapper.json, a"
        " DefaultWrapperModel, and give model.json to the collection as a resource."
    ]


def store_instructions(source: Source, filename: str, missing: str) -> str:
    """Show the two requests that store features and model, and one that ranks by it."""
    return f"""\
`features.json` is to be started from: it takes each feature from a field of its name.{missing}

```sh
SOLR=http://localhost:8983/solr/collection
curl -X PUT $SOLR/schema/feature-store -H 'Content-Type: application/json' --data-binary @features.json
curl -X PUT $SOLR/schema/model-store -H 'Content-Type: application/json' --data-binary @{filename}
curl "$SOLR/query?q=*:*&rq=%7B!ltr%20model={source.name}%20reRankDocs=100%7D&fl=id,score"
```

Where there is a `wrapper.json`, the model is too large for ZooKeeper: copy `{filename}` as
`{source.name}.json` to a folder that solrconfig.xml names in a `<lib>` directive on each node, and PUT
`wrapper.json` in its stead.

To replay `golden.jsonl`, index each line's `features` as fields of a document, leave out those that are
`null`, and compare its score with `score`; both are sums of float32.
"""


def java_float(value: float) -> str:
    """Write a float32 value as Java's Float.parseFloat reads it."""
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return float32_text(value)


def _legacy(options: ExportOptions) -> bool:
    """Return whether Solr is older than isNullSameAsZero and `missing` (SOLR-16596)."""
    return options.before(9, 2)


def _too_large(content: bytes) -> bool:
    return len(content) > ZOOKEEPER_BYTES


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"
