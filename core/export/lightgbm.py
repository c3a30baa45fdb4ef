"""LightGBM's own text."""

from core.export.nodes import Nodes
from core.export.options import ExportOptions
from core.export.target import Arithmetic, Source, Target
from core.scoring.model_text import ModelText


class LightGbm(Target):
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

    def check(self, source: Source) -> None:
        """Refuse nothing."""

    def write(self, source: Source) -> bytes:
        """Give the text away."""
        return source.content

    def read(self, content: bytes, source: Source) -> Nodes:
        """Read it again."""
        return Nodes.of(ModelText.read(content))

    def instructions(self, source: Source) -> str:
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
