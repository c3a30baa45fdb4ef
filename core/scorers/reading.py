"""Read any stored model."""

from core.scorers.model import ScoringModel, TreeModel
from core.scorers.network_file import described, is_safetensors, read_network
from core.scorers.sum import KIND, read_sum
from core.scoring.model_text import ModelText


def read_model(content: bytes) -> ScoringModel:
    """Read a stored model: LightGBM's text, or a safetensors file of Rankery.

    Raises:
        ModelError: It is damaged, or none of these.
    """
    if not is_safetensors(content):
        return TreeModel(ModelText.read(content))
    if described(content).get("kind") == KIND:
        return read_sum(content)
    return read_network(content)
