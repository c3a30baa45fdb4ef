"""LightGBM's parameters as jobs set them."""

from typing import Any

from rankery.errors import InvalidArgument
from rankery.invalid_arguments import invalid_arguments
from rankery.server_package import require_server_package

_BY_FEATURE_NAME = ("monotone_constraints", "interaction_constraints", "feature_contri")


def parameters(*, seed: int = 42, **hyperparameters: Any) -> dict[str, Any]:
    """Return the parameters with which `lightgbm.train` grows the trees of a job, byte for byte.

    They make a training repeatable on any number of threads, and differ from LightGBM's own defaults: no
    filter of features before binning, no start from the average label. The model is that of a job with the
    same loss, seed and data, except for the line `[num_iterations: …]`, where jobs leave LightGBM's 100, and
    `[num_threads: …]` of linear trees, where they leave 0.

    Args:
        seed: The seed of the job.
        **hyperparameters: Those of the job, without random choices and `quant_train_renew_leaf`: jobs draw
            documents and features again for each tree, and round gradients, which `lightgbm.train` does not.

    Raises:
        InvalidArgument: A hyperparameter is unknown, out of bounds, or not LightGBM's to follow.
        PackageMissing: rankery-server is not installed.

    Example:
        >>> parameters(num_leaves=15)["num_leaves"]
        15
    """
    require_server_package()
    from core.parameters import build
    from core.training import Hyperparameters
    from core.training.sampling import drop_seed, fixed_seeds

    if "num_iterations" in hyperparameters:
        raise InvalidArgument("num_iterations: give it to lightgbm.train as num_boost_round")
    with invalid_arguments():
        asked = build(Hyperparameters, hyperparameters)
    for name in _BY_FEATURE_NAME:
        if getattr(asked, name):
            raise InvalidArgument(f"{name}: names features in a job; give LightGBM its own form, by column")
    if asked.is_random:
        raise InvalidArgument(
            "random choices of a job are drawn again for each tree; give LightGBM's sampling parameters to"
            " lightgbm.train, where the trees will be others than a job's"
        )
    if asked.use_quantized_grad and asked.quant_train_renew_leaf:
        raise InvalidArgument(
            "quant_train_renew_leaf: a job rounds the gradients first, so that leaf values do not depend on"
            " threads; give it to lightgbm.train, where the trees will be others than a job's"
        )
    drops = {"drop_seed": drop_seed(seed)} if asked.boosting == "dart" else {}
    return {**asked.lightgbm(seed, threads=0), **fixed_seeds(seed), **drops}
