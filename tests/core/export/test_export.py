"""The registry of formats, and the refusal of texts that are no model."""

import pytest

from core.errors import InvalidInput, ModelError
from core.export import TREE_FORMATS, export_model


def test_unknown_formats_and_broken_models_are_refused() -> None:
    """The error lists the known formats; no format accepts a broken model."""
    with pytest.raises(InvalidInput, match="known are lightgbm, vespa, solr"):
        export_model("tree", "pmml")
    for name in TREE_FORMATS:
        with pytest.raises(ModelError):
            export_model(b"tree\xff", name)
