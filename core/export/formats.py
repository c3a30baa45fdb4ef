"""Every export format by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.errors import InvalidInput
from core.scoring import Forest


@dataclass(frozen=True)
class Export:
    """A model in the form another program reads.

    Attributes:
        filename: Suggested name of the file.
        media_type: Its media type.
        content: Its bytes.
    """

    filename: str
    media_type: str
    content: bytes


def export_lightgbm(model_text: str | bytes) -> Export:
    """Return the model as LightGBM's own text, which `lightgbm.Booster(model_str=…)` reads.

    Raises:
        ModelError: When the text is no LightGBM model.
    """
    Forest.parse(model_text)
    content = model_text.encode() if isinstance(model_text, str) else model_text
    return Export("model.txt", "text/plain; charset=utf-8", content)


EXPORTS: Mapping[str, Callable[[str | bytes], Export]] = MappingProxyType({"lightgbm": export_lightgbm})


def export_model(model_text: str | bytes, format: str) -> Export:
    """Convert a model.

    Raises:
        InvalidInput: For an unknown format.
        ModelError: When the model cannot be expressed in the format.
    """
    if format not in EXPORTS:
        raise InvalidInput.at("/format", f"unknown format {format[:40]!r}; known are {', '.join(EXPORTS)}")
    return EXPORTS[format](model_text)
