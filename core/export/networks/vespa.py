"""Rank profiles for Vespa: a plain expression for a linear scorer, an ONNX model for a network.

Vespa evaluates expressions in float64 on content nodes and in containers alike. What a document lacks is NaN
there, as an attribute without a value is.
"""

import re
from collections.abc import Mapping

import numpy as np

from core.errors import ModelError
from core.export.networks import onnx
from core.export.networks.evaluation import in_blocks
from core.export.networks.target import Engine, NetworkSource, NetworkTarget, limits_of
from core.export.vespa import check_names, functions_of, profile_name
from core.scorers import Network
from core.types import Float32Array, Float64Array

_PROFILE = "model.profile"
_NAMES = "features whose names are neither rank features nor functions: name them in feature_names"
_TERM = re.compile(r"^ +\+ if \(isNan\((.+)\), (\S+), (\S+) \* \1\)$", re.MULTILINE)
_CONSTANT = re.compile(r"^        expression \{\n +(\S+)$", re.MULTILINE)
_CANNOT = frozenset({"log1p", "rank-gauss"})


class VespaExpression(NetworkTarget):
    """A rank profile with a linear scorer written out."""

    name = "vespa"
    filename = _PROFILE
    media_type = "text/plain; charset=utf-8"
    reader = "Vespa"
    summary = "Rank profile for Vespa, a plain expression"
    options = frozenset({"model_name", "feature_names"})
    limits = (*limits_of(_CANNOT), _NAMES)
    cannot = _CANNOT
    way_out = "Export it as onnx, which Vespa reads too."

    def check(self, source: NetworkSource) -> None:
        """Refuse what is better an ONNX model, and names that Vespa does not take."""
        super().check(source)
        check_names(source.features)

    def write(self, source: NetworkSource) -> bytes:
        """Write the profile, with the scaling folded into the weights in float64."""
        constant, weights, missing = _folded(source.network)
        used = source.network.used_features
        terms = "".join(
            f"            + if (isNan({source.features[column]}), {missing[column]!r},"
            f" {weights[column]!r} * {source.features[column]})\n"
            for column in used
        )
        functions = functions_of(source.features[column] for column in used)
        return (
            f"rank-profile {profile_name(source.name)} {{{functions}\n    first-phase {{\n"
            f"        expression {{\n            {constant!r}\n{terms}        }}\n    }}\n"
            "    match-features: firstPhase\n}\n"
        ).encode()

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Read the terms.

        Raises:
            ModelError: There are not as many as the model has features that decide scores.
        """
        text = content.decode()
        found, constants = _TERM.findall(text), _CONSTANT.findall(text)
        if len(constants) != 1 or len(found) != text.count("\n            + "):
            raise ModelError("the expression of the export is not that of the model")
        places = {name: place for place, name in enumerate(source.features)}
        terms = [(places[name], float(missing), float(weight)) for name, missing, weight in found]

        def score(rows: Float32Array) -> Float64Array:
            total = np.full(len(rows), float(constants[0]))
            for column, missing, weight in terms:
                values = rows[:, column].astype(np.float64)
                total = total + np.where(np.isnan(values), missing, weight * values)
            return total

        words = "finite features, missing ones as in the model; folded weights, added in float64"
        return (Engine("Vespa", words, single=False, finite=True, score=lambda rows: in_blocks(score, rows)),)

    def instructions(self, source: NetworkSource) -> str:
        """Show where the profile goes."""
        return _instructions(source, "")


class VespaOnnx(NetworkTarget):
    """An ONNX model with a rank profile that uses it."""

    name = "vespa"
    filename = "model.onnx"
    media_type = "application/octet-stream"
    reader = "Vespa"
    summary = "ONNX model for Vespa, with a rank profile in the archive"
    options = frozenset({"model_name", "feature_names"})
    limits = (_NAMES,)

    def check(self, source: NetworkSource) -> None:
        """Refuse names that Vespa does not take."""
        super().check(source)
        check_names(source.features)

    def write(self, source: NetworkSource) -> bytes:
        """Write the graph, as the format onnx does."""
        return onnx.written(source)

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Return what evaluates the graph: Vespa has ONNX Runtime in it."""
        return (onnx.engine_of(content),)

    def companions(self, source: NetworkSource, content: bytes) -> Mapping[str, bytes]:
        """Return the rank profile."""
        profile, names = profile_name(source.name), source.features
        features = ",\n                ".join(names)
        text = (
            f"rank-profile {profile} {{{functions_of(names)}\n"
            f"    function {profile}_features() {{\n        expression {{\n"
            f"            tensor<float>(d0[1],d1[{len(names)}]):[[\n                {features}\n"
            "            ]]\n        }\n    }\n"
            f"    onnx-model {profile} {{\n        file: models/{source.name}.onnx\n"
            f"        input features: {profile}_features\n        output scores: scores\n    }}\n"
            f"    first-phase {{\n        expression: sum(onnx({profile}).scores)\n    }}\n"
            "    match-features: firstPhase\n}\n"
        )
        return {_PROFILE: text.encode()}

    def instructions(self, source: NetworkSource) -> str:
        """Show where model and profile go."""
        return _instructions(source, f"`{self.filename}` as `models/{source.name}.onnx` and ")


def _instructions(source: NetworkSource, model: str) -> str:
    profile = profile_name(source.name)
    return f"""\
Put {model}`{_PROFILE}` as `schemas/SCHEMA/{profile}.profile` into the application package, SCHEMA being
the name of your schema, and rank by `{profile}`. The functions in the profile give the features whose names
are not rank features already; write your own expressions. What a document lacks must be NaN there, as an
attribute without a value is.

```sh
vespa deploy
```

To replay `golden.jsonl`, feed each line's `features` as attributes of a document, leave out those that are
`null`, ask for it with this profile and compare its relevance with `score`.
"""


def _folded(network: Network) -> tuple[float, list[float], list[float]]:
    """Return the constant, the weights of raw features, and the terms of missing features."""
    inputs, (layer,) = network.inputs, network.layers
    trained = layer.weights[:, 0].astype(np.float64)
    weights, missing = trained[: network.n_features].copy(), np.zeros(network.n_features)
    constant = float(layer.bias[0])
    if inputs.kind == "standard":
        weights /= inputs.deviations
        missing = weights * inputs.means
        constant -= float(missing.sum())
    missing[inputs.indicators] += trained[network.n_features :]
    return constant, weights.tolist(), missing.tolist()
