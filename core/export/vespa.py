"""LightGBM's JSON for Vespa.

The importer turns `<=` into `<`, ignores `missing_type` and reads `default_left` as the way of NaN. It needs
an `objective`, which models of an objective of one's own do not have, and `pandas_categorical`.
"""

import json
import re
from collections.abc import Iterable

import numpy as np

from core.errors import InputProblem, InvalidInput
from core.export.nested import nested
from core.export.nodes import Nodes, Split
from core.export.options import ExportOptions
from core.export.thresholds import LARGEST, ceiling32
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, TreeSource, TreeTarget
from core.scoring.descent import MissingGo
from core.types import Float64Array

# Nothing is beyond it but infinity, which it becomes as a float32: a decimal that JSON can write.
BEYOND_FLOAT32 = 3.5e38
_NO_CATEGORIES = {"min_value": 0, "max_value": 0, "values": []}
_NAME = r"[A-Za-z_@$][A-Za-z0-9_@$]*"
# A rank feature, `attribute(t,x)` or `fieldMatch(title).completeness`, or the name of a function.
_RANK_FEATURE = re.compile(rf"{_NAME}(\([^()\"\\]*(\([^()\"\\]*\)[^()\"\\]*)*\))?(\.[A-Za-z0-9_.]+)?")
_FUNCTION = re.compile(_NAME)


class Vespa(TreeTarget):
    """A file for `lightgbm("model.json")` in a rank profile."""

    name = "vespa"
    filename = "model.json"
    media_type = "application/json"
    reader = "Vespa"
    summary = 'For `lightgbm("model.json")` in a rank profile'
    options = frozenset({"model_name", "feature_names"})
    limits = (
        *NUMERIC_LIMITS,
        "features whose names are neither rank features nor functions: name them in feature_names",
    )

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return those of its two evaluators."""
        return (
            Arithmetic("Vespa's content nodes (FastForest)", strict=True, single_sum=False, finite=True),
            Arithmetic("Vespa's containers (Java)", strict=True, single=False, single_sum=False, finite=True),
        )

    def write(self, source: TreeSource) -> bytes:
        """Write what `dump_model` would, as far as Vespa reads it."""
        check_names(source.features)
        wanted, nan_left = source.numeric
        thresholds = strict_thresholds(wanted)
        nodes = source.nodes
        features, values = nodes.features.tolist(), nodes.values.tolist()
        numbers, left = thresholds.tolist(), nan_left.tolist()

        def split(node: int, below_left: str, below_right: str) -> str:
            return (
                f'{{"split_feature":{features[node]},"threshold":{numbers[node]!r},"decision_type":"<=",'
                f'"default_left":{"true" if left[node] else "false"},"missing_type":"NaN",'
                f'"left_child":{below_left},"right_child":{below_right}}}'
            )

        trees = nested(nodes, lambda node: f'{{"leaf_value":{values[node]!r}}}', split)
        head = {
            "name": "tree",
            "version": "v4",
            "num_class": 1,
            "num_tree_per_iteration": 1,
            "label_index": 0,
            "max_feature_idx": len(source.features) - 1,
            "objective": "lambdarank",
            "average_output": False,
            "feature_names": list(source.features),
            "feature_infos": dict.fromkeys(source.features, _NO_CATEGORIES),
            "pandas_categorical": [],
        }
        infos = ",".join(
            f'{{"tree_index":{tree},"num_cat":0,"shrinkage":1,"tree_structure":{text}}}'
            for tree, text in enumerate(trees)
        )
        return f'{json.dumps(head)[:-1]}, "tree_info": [{infos}]}}\n'.encode()

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Read the trees."""

        def ask(node: dict[str, object]) -> float | tuple[Split, dict[str, object], dict[str, object]]:
            if "leaf_value" in node:
                return float(node["leaf_value"])  # type: ignore[arg-type]
            way = MissingGo.LEFT_IF_NAN if node["default_left"] else MissingGo.RIGHT_IF_NAN
            split = Split(node["split_feature"], float(node["threshold"]), way)  # type: ignore[arg-type]
            return split, node["left_child"], node["right_child"]  # type: ignore[return-value]

        document = json.loads(content)
        return Nodes.walked((tree["tree_structure"] for tree in document["tree_info"]), ask)

    def instructions(self, source: TreeSource) -> str:
        """Show the rank profile."""
        used = {source.features[feature] for feature in source.nodes.features if feature >= 0}
        functions = functions_of(used)
        return f"""\
Put `{self.filename}` into the application package as `models/{source.name}.json` and rank by it. The
functions give the features whose names are not rank features already; write your own expressions. What a
document lacks must be NaN there, as an attribute without a value is.

```
rank-profile {profile_name(source.name)} {{{functions}
    first-phase {{
        expression: lightgbm("{source.name}.json")
    }}
    match-features: firstPhase
}}
```

```sh
vespa deploy
```

To replay `golden.jsonl`, feed each line's `features` as attributes of a document, leave out those that are
`null`, ask for it with this profile and compare its relevance with `score`; it may differ by the rounding of
float32 leaves, as `parity.json` says.
"""


def strict_thresholds(wanted: Float64Array) -> Float64Array:
    """Return thresholds of `x < t`, in float32 or float64, that JSON can write."""
    return np.where(wanted >= LARGEST, BEYOND_FLOAT32, ceiling32(wanted).astype(np.float64))


def profile_name(name: str) -> str:
    """Return a model's name as a rank profile may have it."""
    return re.sub("[^A-Za-z0-9_]", "_", name)


def functions_of(names: Iterable[str]) -> str:
    """Write the functions of a rank profile that give the features which are not rank features already."""
    return "".join(
        f"\n    function {name}() {{\n        expression: attribute({name})\n    }}"
        for name in sorted(names)
        if _FUNCTION.fullmatch(name)
    )


def check_names(names: tuple[str, ...]) -> None:
    """Refuse names of features that Vespa would not take for features.

    Raises:
        InvalidInput: At `/feature_names`.
    """
    problems = [
        InputProblem(
            "/feature_names",
            f"{name[:80]!r} is neither a rank feature of Vespa nor the name of a function; say what it is"
            " there, such as attribute(price)",
        )
        for name in names
        if _RANK_FEATURE.fullmatch(name) is None
    ]
    if problems:
        raise InvalidInput(*problems[:50])
