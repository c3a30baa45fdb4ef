"""The registry of formats, and the refusal of texts that are no model."""

import lightgbm
import numpy as np
import pytest

from core.data import synthetic_dataset
from core.errors import InvalidInput, ModelError
from core.export import TREE_FORMATS, export_model
from core.scoring import Forest
from core.training import train, training_spec


def test_the_lightgbm_export_scores_the_same_in_lightgbm() -> None:
    """The exported bytes are a model that LightGBM itself reads."""
    dataset = synthetic_dataset(10, seed=1)
    spec = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 3}})
    text = train(spec, dataset).model_text
    booster = lightgbm.Booster(model_str=export_model(text, "lightgbm").content.decode())
    np.testing.assert_array_equal(
        booster.predict(dataset.features), Forest.parse(text).score(dataset.features)
    )


def test_unknown_formats_and_broken_models_are_refused() -> None:
    """The error lists the known formats."""
    with pytest.raises(InvalidInput, match="known are lightgbm, vespa, solr"):
        export_model("tree", "pmml")
    for name in TREE_FORMATS:
        with pytest.raises(ModelError):
            export_model(b"tree\xff", name)
