"""LightGBM's own text."""

from core.export.nodes import Nodes
from core.export.options import ExportOptions
from core.export.tree_target import Arithmetic, TreeSource, TreeTarget
from core.scoring.model_text import ModelText


class LightGbm(TreeTarget):
    """The model as it is stored."""

    name = "lightgbm"
    filename = "model.txt"
    media_type = "text/plain; charset=utf-8"
    reader = "LightGBM"
    summary = "LightGBM's own text, as the model is stored"
    options = frozenset()
    limits = ()
    nests = False

    def arithmetics(self, options: ExportOptions) -> tuple[Arithmetic, ...]:
        """Return LightGBM's own."""
        return (Arithmetic("LightGBM", single=False, zeros=True, single_sum=False, doubles=True),)

    def check(self, source: TreeSource) -> None:
        """Refuse nothing."""

    def write(self, source: TreeSource) -> bytes:
        """Give the text away."""
        return source.content

    def read(self, content: bytes, source: TreeSource) -> Nodes:
        """Read it again."""
        return Nodes.of(ModelText.read(content))

    def notes(self, source: TreeSource, content: bytes) -> list[str]:
        """Say how features are spelled, and how categories are given."""
        pairs = zip(source.features, source.text.feature_names, strict=True)
        spelled = [f"`{name}` is `{written}`" for name, written in pairs if name != written]
        found = (
            [f"In LightGBM's text, which cannot hold every name, {', '.join(spelled)}."] if spelled else []
        )
        names = [source.features[column] for column in source.text.categories]
        if not names:
            return found
        return [
            *found,
            f"Values of {', '.join(names)} are positions in the lists of pandas_categorical, the last line,"
            " also in the golden vectors. LightGBM's Python package reads it: DataFrames hold the values"
            " themselves, in columns of type category.",
        ]

    def instructions(self, source: TreeSource) -> str:
        """Show it in Python."""
        return f"""\
```python
import json
import lightgbm

booster = lightgbm.Booster(model_file="{self.filename}")
for line in open("golden.jsonl", encoding="utf-8"):
    golden = json.loads(line)
    row = [float("nan") if value is None else value for value in golden["features"].values()]
    assert booster.predict([row], raw_score=True)[0] == golden["score"], golden["id"]
```
"""
