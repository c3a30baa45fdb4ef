"""Click models: probabilities of examination, clicks and satisfaction, estimated from a log."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.clicks.models.evaluation import (
        compare_click_models,
        evaluate_click_model,
        held_out_list_weights,
    )
    from core.clicks.models.fitting import fit_click_model
    from core.clicks.models.model import ClickModel
    from core.clicks.models.specification import MODELS, ClickModelSpec

# Lazy imports: code that only reads the options of a request needs no kernels.
__getattr__ = lazy_names(__name__)
