"""Click models agree with PyClick on the same sessions; `pyclick.json` has the source of its numbers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.clicks.models import ClickModelSpec, evaluate_click_model, fit_click_model
from tests.core.clicks.models.sessions import LISTS, as_log, draw_sessions

PYCLICK: dict[str, Any] = json.loads((Path(__file__).parent / "pyclick.json").read_text())
MODELS = [name for name, values in PYCLICK.items() if isinstance(values, dict)]
LOG = as_log(draw_sessions())
TRAINING = (np.arange(LISTS) < 45).astype(np.float64)


@pytest.mark.parametrize("name", MODELS)
def test_parameters_and_evaluations_are_those_of_pyclick(name: str) -> None:
    """After as many passes: parameters, log-likelihood and perplexities of held-out lists, to 1e-9."""
    expected = dict(PYCLICK[name])
    first_pass = name == "dbn_first_pass"
    spec = ClickModelSpec(
        model=name.split("_")[0], as_pyclick=True, resamples=0, iterations=1 if first_pass else 50
    )
    model = fit_click_model(LOG, spec, weights=TRAINING)
    measured = evaluate_click_model(model, LOG, 1.0 - TRAINING)
    ours: dict[str, Any] = {
        "log_likelihood": measured.log_likelihood,
        "perplexity": [measured.perplexity, *measured.by_rank[:, 1]],
        "conditional_perplexity": [measured.conditional_perplexity, *measured.by_rank[:, 2]],
        "attractiveness": model.parameters.attractiveness,
        "satisfaction": model.parameters.satisfaction,
        **model.parameters.shared(),
    }
    assert len(expected) >= 2
    for entry, values in expected.items():
        np.testing.assert_allclose(ours[entry], values, rtol=1e-9, atol=0, err_msg=entry)
