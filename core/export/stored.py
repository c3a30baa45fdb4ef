"""Exports of the stored files: LightGBM's text for a forest, safetensors for all other models."""

from core.export.networks.evaluation import engine_in_doubles
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.export.nodes import Nodes
from core.export.options import ExportOptions
from core.export.sums.target import MembersTarget, SumSource, WrittenMember
from core.export.text import replay_code
from core.export.tree_target import Arithmetic, TreeSource, TreeTarget
from core.scorers import read_network
from core.scorers.sum import read_sum
from core.scoring.model_text import ModelText


class LightGbm(TreeTarget):
    """The stored model text of a forest."""

    name = "lightgbm"
    filename = "model.txt"
    media_type = "text/plain; charset=utf-8"
    reader = "LightGBM"
    summary = "The model as it is stored: LightGBM's text format"
    options = frozenset()
    limits = ()
    nests = False

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return LightGBM's arithmetic."""
        return (
            Arithmetic("LightGBM", single=False, tiny_is_zero=True, single_sum=False, float64_exact=True),
        )

    def check(self, source: TreeSource) -> None:
        """Accept every model."""

    def write(self, source: TreeSource) -> bytes:
        """Return the stored text."""
        return source.content

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Parse the stored file."""
        return Nodes.of(ModelText.read(content))

    def notes(self, source: TreeSource, content: bytes) -> list[str]:
        """Return notes on the names of features and on the values of categories."""
        pairs = zip(source.features, source.text.feature_names, strict=True)
        spelled = [f"`{name}` is `{written}`" for name, written in pairs if name != written]
        notes = []
        if spelled:
            notes.append(f"LightGBM's text format does not allow every name: {', '.join(spelled)}.")
        if names := [source.features[column] for column in source.text.categories]:
            notes.append(
                f"Values of {', '.join(names)} are indexes into the lists of pandas_categorical, the last"
                " line of the file, also in the golden vectors. LightGBM's Python package reads these lists:"
                " DataFrames have the values themselves, in columns of type category."
            )
        return notes

    def instructions(self, source: TreeSource) -> str:
        """Return Python code that reads the file."""
        return replay_code(
            f'import json\nimport lightgbm\n\nbooster = lightgbm.Booster(model_file="{self.filename}")',
            '    row = [float("nan") if value is None else value for value in golden["features"].values()]\n',
            'booster.predict([row], raw_score=True)[0] == golden["score"]',
        )


class Safetensors(NetworkTarget):
    """The stored safetensors file, with a JSON description in its metadata."""

    name = "safetensors"
    filename = "model.safetensors"
    media_type = "application/octet-stream"
    reader = "safetensors, in any language"
    summary = "The model as it is stored: safetensors with a description in JSON"
    options = frozenset({"model_name"})
    limits = ()

    def write(self, source: NetworkSource) -> bytes:
        """Return the stored file."""
        return source.content

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Parse the stored file, and return an engine that evaluates it by NumPy."""
        return (engine_in_doubles("numpy", read_network(content)),)

    def instructions(self, source: NetworkSource) -> str:
        """Return Python code that reads the file."""
        return f"""\
Tensors: `inputs.*` scale the features; `layers.N.weights`, (inputs, units), and `layers.N.bias` are the
layers. The metadata hold JSON under the key `rankery`: `feature_names`, `inputs`, `activation` and `layers`.

```python
import json
from safetensors import safe_open

with safe_open("{self.filename}", framework="numpy") as file:
    description = json.loads(file.metadata()["rankery"])
    tensors = {{name: file.get_tensor(name) for name in file.keys()}}
print(description["activation"], {{name: tensor.shape for name, tensor in tensors.items()}})
```
"""


class SafetensorsSum(MembersTarget):
    """The stored safetensors file of a sum, with the files of its members as byte tensors."""

    name = "safetensors"
    filename = "model.safetensors"
    media_type = "application/octet-stream"
    reader = "safetensors, in any language"
    summary = "The model as it is stored: safetensors with the files of its members"
    options = frozenset({"model_name"})
    limits = ()
    of_trees = LightGbm()
    of_networks = Safetensors()

    def write(self, source: SumSource) -> bytes:
        """Return the stored file."""
        return source.content

    def read(self, content: bytes, source: SumSource) -> list[WrittenMember]:
        """Parse the stored file."""
        return [
            WrittenMember(member.content, member.weight, tuple(columns.tolist()))
            for member, columns in read_sum(content).parts
        ]

    def instructions(self, source: SumSource) -> str:
        """Return Python code that reads the file."""
        return f"""\
The metadata hold JSON under the key `rankery`: `members` lists the `feature_names`, the `weight` and the
`precision` of each member. The tensor `members.N` has the bytes of its file: LightGBM's text, or safetensors.

```python
import json
from safetensors import safe_open

with safe_open("{self.filename}", framework="numpy") as file:
    description = json.loads(file.metadata()["rankery"])
    files = [file.get_tensor(f"members.{{place}}").tobytes() for place in range(len(description["members"]))]
print([(member["model"], member["weight"]) for member in description["members"]], list(map(len, files)))
```
"""
