"""Read any stored model."""

from core.scorers.model import ScoringModel, TreeModel
from core.scorers.network_file import is_safetensors, read_description, read_network
from core.scorers.sum import KIND, read_sum
from core.scoring.model_text import ModelText
from core.types import Precision


def with_line_feeds(content: bytes) -> bytes:
    """Return a model file whose lines end with line feeds.

    Editors and Git on Windows change them to CRLF. LightGBM's `tree_sizes` counts bytes without CR.
    """
    return content if is_safetensors(content) else content.replace(b"\r\n", b"\n")


def read_model(content: bytes, precision: Precision = "float32") -> ScoringModel:
    """Read a stored model: LightGBM's text, or a safetensors file of Rankery.

    Args:
        precision: Precision of the training features of trees; a safetensors file determines its precision.

    Raises:
        ModelError: The file is damaged, or of another format.
    """
    if not is_safetensors(content):
        return TreeModel(ModelText.read(content), precision)
    if read_description(content).get("kind") == KIND:
        return read_sum(content)
    return read_network(content)
