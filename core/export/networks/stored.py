"""The model as it is stored: safetensors."""

from core.export.networks.evaluation import score_in_doubles
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.scorers import read_network


class Stored(NetworkTarget):
    """The safetensors file, whose metadata describe the model in JSON."""

    name = "safetensors"
    filename = "model.safetensors"
    media_type = "application/octet-stream"
    reader = "safetensors, in any language"
    summary = "The model as it is stored: safetensors with a description in JSON"
    options = frozenset({"model_name"})
    limits = ()

    def write(self, source: NetworkSource) -> bytes:
        """Give the file away."""
        return source.content

    def engines(self, content: bytes, source: NetworkSource) -> tuple[Engine, ...]:
        """Read it again, and evaluate it by numpy."""
        network = read_network(content)
        words = "features rounded to float32; missing features as in the model; everything else in float64"
        return (
            Engine(
                "numpy", words, single=False, finite=False, score=lambda rows: score_in_doubles(network, rows)
            ),
        )

    def instructions(self, source: NetworkSource) -> str:
        """Show it in Python."""
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
