"""Export for Vespa: LightGBM's JSON for a forest, an expression for a linear scorer, ONNX for a network.

A sum is a rank profile that adds the scores of its members.

Vespa's importer of LightGBM's JSON turns `<=` into `<`, ignores `missing_type` and reads `default_left` as
the direction of NaN. It requires `pandas_categorical` and an `objective`, which models with custom objectives
lack. Expressions are evaluated in float64 both on content nodes and in containers. A missing feature is NaN,
as is an attribute without a value.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from core.errors import InputProblem, InvalidInput, ModelError
from core.export.networks.evaluation import in_blocks
from core.export.networks.target import Engine, NetworkSource, NetworkTarget, limits_of, parts_of
from core.export.nodes import Nodes, Split
from core.export.onnx import OnnxNetwork
from core.export.options import ExportOptions
from core.export.sums.target import MembersTarget, SumSource, WrittenMember
from core.export.target import AnySource, Source, Target
from core.export.text import nested_texts
from core.export.thresholds import strict_thresholds
from core.export.tree_target import NUMERIC_LIMITS, Arithmetic, TreeSource, TreeTarget
from core.types import Float32Array, Float64Array

_NO_CATEGORIES = {"min_value": 0, "max_value": 0, "values": []}
_NAME = r"[A-Za-z_@$][A-Za-z0-9_@$]*"
# A rank feature, `attribute(t,x)` or `fieldMatch(title).completeness`, or the name of a function.
_RANK_FEATURE = re.compile(rf"{_NAME}(\([^()\"\\]*(\([^()\"\\]*\)[^()\"\\]*)*\))?(\.[A-Za-z0-9_.]+)?")
_FUNCTION = re.compile(_NAME)
_PROFILE = "model.profile"
_UNMAPPED_FEATURES = "features whose names are neither rank features nor functions: map them in feature_names"
_TERM = re.compile(r"^ +\+ if \(isNan\((.+)\), (\S+), (\S+) \* \1\)$", re.MULTILINE)
_CONSTANT = re.compile(r"^        expression \{\n +(\S+)$", re.MULTILINE)
_LINEAR_FUNCTION = re.compile(
    r"^    function (\w+)\(\) (\{\n        expression \{\n +[^ ]+\n(?: +\+ if .*\n)* +\}\n)", re.MULTILINE
)
_WEIGHTED = re.compile(r"^            (?:\+ )?([^ ]+) \* (.+)$", re.MULTILINE)
_UNSUPPORTED = frozenset({"log1p", "rank-gauss"})


class _Vespa(Target[AnySource]):
    """A model in a rank profile."""

    name = "vespa"
    reader = "Vespa"
    options = frozenset({"model_name", "feature_names"})

    def check(self, source: AnySource) -> None:
        """Refuse a model that the format cannot express, and names of features that Vespa does not accept."""
        super().check(source)
        check_names(source.features)


class VespaTrees(_Vespa[TreeSource], TreeTarget):
    """A forest: a file for `lightgbm("model.json")` in a rank profile."""

    filename = "model.json"
    media_type = "application/json"
    summary = 'For `lightgbm("model.json")` in a rank profile'
    limits = (*NUMERIC_LIMITS, _UNMAPPED_FEATURES)

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return the arithmetics of Vespa's two evaluators."""
        return (
            Arithmetic("Vespa's content nodes (FastForest)", strict=True, single_sum=False, finite_only=True),
            Arithmetic(
                "Vespa's containers (Java)", strict=True, single=False, single_sum=False, finite_only=True
            ),
        )

    def write(self, source: TreeSource) -> bytes:
        """Return the JSON of LightGBM's `dump_model`, limited to the members that Vespa reads."""
        model_thresholds, nan_left = source.numeric_splits
        thresholds = strict_thresholds(model_thresholds)
        nodes = source.nodes
        features, values = nodes.features.tolist(), nodes.values.tolist()
        numbers, left = thresholds.tolist(), nan_left.tolist()

        def split(node: int, below_left: str, below_right: str) -> str:
            return (
                f'{{"split_feature":{features[node]},"threshold":{numbers[node]!r},"decision_type":"<=",'
                f'"default_left":{"true" if left[node] else "false"},"missing_type":"NaN",'
                f'"left_child":{below_left},"right_child":{below_right}}}'
            )

        trees = nested_texts(nodes, lambda node: f'{{"leaf_value":{values[node]!r}}}', split)
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
        """Parse the trees of the JSON."""

        def value_or_split(node: dict[str, Any]) -> float | tuple[Split, dict[str, Any], dict[str, Any]]:
            if "leaf_value" in node:
                return float(node["leaf_value"])
            threshold, nan_left = float(node["threshold"]), node["default_left"]
            split = Split.of(node["split_feature"], threshold, nan_left=nan_left)
            return split, node["left_child"], node["right_child"]

        document = json.loads(content)
        return Nodes.from_trees((tree["tree_structure"] for tree in document["tree_info"]), value_or_split)

    def instructions(self, source: TreeSource) -> str:
        """Return the instructions with a rank profile."""
        used = source.nodes.features[source.nodes.splits].tolist()
        profile = _profile(source, used, f': lightgbm("{source.name}.json")')
        return f"""\
Put `{self.filename}` into the application package as `models/{source.name}.json` and rank by it. The
functions compute the features whose names are not rank features; replace their expressions. A missing
feature must be NaN, as an attribute without a value is.

```
{profile}```

```sh
vespa deploy
```

To replay `golden.jsonl`, feed each line's `features` as attributes of a document, leave out those that are
`null`, query it with this profile and compare its relevance with `score`. It may differ by the rounding of
float32 leaves; see `parity.json`. Rank features cannot be fed: to replay, export without `feature_names`.
"""


class _VespaProfile(_Vespa[AnySource]):
    """A model whose rank profile is a separate file."""

    def models(self, source: AnySource) -> str:
        """Return the part of the instructions on files for the folder `models`; "" without such files."""
        return ""

    def instructions(self, source: AnySource) -> str:
        """Return the instructions: paths in the application package, and the deployment."""
        models, profile = self.models(source), profile_name(source.name)
        return f"""\
Put {models}`{_PROFILE}` as `schemas/SCHEMA/{profile}.profile` into the application package, SCHEMA being
the name of your schema, and rank by `{profile}`. The functions in the profile compute the features whose
names are not rank features; replace their expressions. A missing feature must be NaN, as an attribute without
a value is.

```sh
vespa deploy
```

To replay `golden.jsonl`, feed each line's `features` as attributes of a document, leave out those that are
`null`, query it with this profile and compare its relevance with `score`. Rank features cannot be fed: to
replay, export without `feature_names`.
"""


class VespaLinear(_VespaProfile[NetworkSource], NetworkTarget):
    """A linear scorer, written out as an expression."""

    filename = _PROFILE
    media_type = "text/plain; charset=utf-8"
    summary = "Rank profile for Vespa, a plain expression"
    limits = (*limits_of(_UNSUPPORTED), _UNMAPPED_FEATURES)
    unsupported = _UNSUPPORTED
    limit_advice = "Export the model as onnx, which Vespa reads, too."

    def write(self, source: NetworkSource) -> bytes:
        """Write the profile, with the scaling folded into the weights in float64."""
        return _profile(source, source.network.used_features, _linear_expression(source)).encode()

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Parse the terms, and return the engine that evaluates them.

        Raises:
            ModelError: The expression has no single constant, or a term of another form.
        """
        text = content.decode()
        written, constants = _TERM.findall(text), _CONSTANT.findall(text)
        if len(constants) != 1 or len(written) != text.count("\n            + "):
            raise ModelError("the expression of the export differs from the expression of the model")
        columns = source.columns
        terms = [(columns[name], float(missing), float(weight)) for name, missing, weight in written]

        def score(rows: Float32Array) -> Float64Array:
            total = np.full(len(rows), float(constants[0]))
            for column, missing, weight in terms:
                values = rows[:, column].astype(np.float64)
                total = total + np.where(np.isnan(values), missing, weight * values)
            return total

        arithmetic = "finite features, missing ones as in the model; folded weights, added in float64"
        blocks = partial(in_blocks, score)
        return (Engine("Vespa", arithmetic, single=False, finite_only=True, score=blocks),)


class VespaNetwork(_VespaProfile[NetworkSource], OnnxNetwork):
    """A network: an ONNX model, which Vespa evaluates by ONNX Runtime, with a rank profile in the archive."""

    summary = "ONNX model for Vespa, with a rank profile in the archive"
    limits = (_UNMAPPED_FEATURES,)

    def models(self, source: NetworkSource) -> str:
        """Return the part of the instructions on the ONNX model."""
        return f"`model.onnx` as `models/{source.name}.onnx` and "

    def companions(self, source: NetworkSource, content: bytes) -> Mapping[str, bytes]:
        """Return the rank profile."""
        columns, scores = range(len(source.features)), _onnx_scores(source)
        return {
            _PROFILE: _profile(source, columns, f": {scores}", _onnx_model(source, source.features)).encode()
        }


class VespaSum(_VespaProfile[SumSource], MembersTarget):
    """A sum: a rank profile that weights and adds members, whose models are in the archive."""

    filename = _PROFILE
    media_type = "text/plain; charset=utf-8"
    summary = "Rank profile for Vespa, with the models of trees and networks in the archive"
    limits = (*NUMERIC_LIMITS, _UNMAPPED_FEATURES)
    of_trees = VespaTrees()
    of_networks = VespaNetwork()

    def of_network(self, source: NetworkSource) -> NetworkTarget:
        """Return the format of expressions, or ONNX where an expression cannot give the scores."""
        parts = {name for name, _ in parts_of(source.network)}
        return _LINEAR if source.network.kind == "linear" and not parts & _UNSUPPORTED else self.of_networks

    def models(self, source: SumSource) -> str:
        """Return the part of the instructions on the models of members; "" if all are expressions."""
        return "the files of `models` into the folder `models` and " if self.companions(source, b"") else ""

    def write(self, source: SumSource) -> bytes:
        """Write the profile: a term for each member, and the functions and models of the terms."""
        used: set[int] = set()
        terms, declarations = [], []
        for part in source.parts:
            columns, term, declaration = self._written(part.source, source.features)
            used.update(part.columns[list(columns)].tolist())
            terms.append(f"{part.member.weight!r} * {term}")
            declarations.append(declaration)
        total = "\n            + ".join(terms)
        expression = f" {{\n            {total}\n        }}"
        return _profile(source, used, expression, "".join(declarations)).encode()

    def _written(
        self, member: TreeSource | NetworkSource, features: Sequence[str]
    ) -> tuple[Iterable[int], str, str]:
        """Return the columns that a member reads, the expression of its score, and its declarations.

        Args:
            features: Features of the sum, whose functions are in the same profile.
        """
        if isinstance(member, TreeSource):
            return member.text.used_features, f'lightgbm("{member.name}.json")', ""
        if self.of_network(member) is _LINEAR:
            name = _function_name(profile_name(member.name), features)
            function = f"    function {name}() {{\n        expression{_linear_expression(member)}\n    }}\n"
            return member.network.used_features, name, function
        return range(len(member.features)), _onnx_scores(member), _onnx_model(member, features)

    def companions(self, source: SumSource, content: bytes) -> Mapping[str, bytes]:
        """Return the models of the members that are not expressions."""
        files: dict[str, bytes] = {}
        for part in source.parts:
            member = part.source
            if isinstance(member, TreeSource):
                files[f"models/{member.name}.json"] = self.of_trees.write(member)
            elif self.of_network(member) is not _LINEAR:
                files[f"models/{member.name}.onnx"] = self.of_networks.write(member)
        return files

    def read(self, content: bytes, source: SumSource) -> list[WrittenMember]:
        """Extract the weights, the expressions and the models of the terms.

        Raises:
            ModelError: The terms differ from the sum's.
        """
        text = content.decode()
        functions, files = dict(_LINEAR_FUNCTION.findall(text)), self.companions(source, content)
        first_phase = text[text.index("    first-phase {") :]
        members = []
        for part, (weight, term) in zip(source.parts, _WEIGHTED.findall(first_phase), strict=False):
            member, (_, expected, _) = part.source, self._written(part.source, source.features)
            if term != expected:
                raise ModelError("the terms of the export differ from the terms of the sum")
            model = functions.get(term, "").encode() or next(
                file for name, file in files.items() if name.startswith(f"models/{member.name}.")
            )
            columns = tuple(source.columns[name] for name in member.features)
            members.append(WrittenMember(model, float(weight), columns))
        return members


_LINEAR = VespaLinear()


def profile_name(name: str) -> str:
    """Return a model's name as a valid name of a rank profile."""
    return re.sub("[^A-Za-z0-9_]", "_", name)


def check_names(names: tuple[str, ...]) -> None:
    """Refuse names of features that Vespa does not accept.

    Raises:
        InvalidInput: At `/feature_names`.
    """
    problems = [
        InputProblem(
            "/feature_names",
            f"{name[:80]!r} is neither a rank feature of Vespa nor the name of a function; map it to a rank"
            " feature in feature_names, such as attribute(price)",
        )
        for name in names
        if _RANK_FEATURE.fullmatch(name) is None
    ]
    if problems:
        raise InvalidInput(*problems[:50])


def _profile(source: Source, used: Iterable[int], expression: str, declarations: str = "") -> str:
    """Write a rank profile.

    Args:
        used: Features of the model; those that are not rank features get a function.
        expression: The expression of the first phase, beginning with its colon or brace.
        declarations: Lines in front of the first phase.
    """
    names = sorted({source.features[column] for column in used})
    functions = "".join(
        f"\n    function {name}() {{\n        expression: attribute({name})\n    }}"
        for name in names
        if _FUNCTION.fullmatch(name)
    )
    return (
        f"rank-profile {profile_name(source.name)} {{{functions}\n{declarations}    first-phase {{\n"
        f"        expression{expression}\n    }}\n    match-features: firstPhase\n}}\n"
    )


def _linear_expression(source: NetworkSource) -> str:
    """Write the score of a linear scorer, with the scaling folded into the weights in float64."""
    constant, weights, missing = source.folded_weights()
    terms = "".join(
        f"            + if (isNan({source.features[column]}), {missing[column]!r},"
        f" {weights[column]!r} * {source.features[column]})\n"
        for column in source.network.used_features
    )
    return f" {{\n            {constant!r}\n{terms}        }}"


def _function_name(name: str, features: Sequence[str]) -> str:
    """Return a name that differs from those of features, whose functions are in the same profile."""
    while name in features:
        name += "_"
    return name


def _onnx_model(source: NetworkSource, others: Sequence[str]) -> str:
    """Return the declaration of an ONNX model, and of the function that collects its features."""
    profile, names = profile_name(source.name), source.features
    function = _function_name(f"{profile}_features", others)
    features = ",\n                ".join(names)
    return (
        f"    function {function}() {{\n        expression {{\n"
        f"            tensor<float>(d0[1],d1[{len(names)}]):[[\n                {features}\n"
        "            ]]\n        }\n    }\n"
        f"    onnx-model {profile} {{\n        file: models/{source.name}.onnx\n"
        f"        input features: {function}\n        output scores: scores\n    }}\n"
    )


def _onnx_scores(source: NetworkSource) -> str:
    return f"sum(onnx({profile_name(source.name)}).scores)"
