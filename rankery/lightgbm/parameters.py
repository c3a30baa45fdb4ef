"""LightGBM's parameters as jobs set them."""

from typing import Any

from rankery.errors import InvalidArgument, convert_invalid_input
from rankery.server_package import require_server_package

_BY_FEATURE_NAME = ("monotone_constraints", "interaction_constraints", "feature_contri")


def parameters(*, seed: int = 42, **hyperparameters: Any) -> dict[str, Any]:
    """Return the parameters with which `lightgbm.train` grows the same trees as a job.

    The parameters make a training repeatable on any number of threads, and differ from the defaults of
    LightGBM: no feature pre-filter before binning, no boosting from the average label. The model is byte for
    byte identical to that of a job with the same loss, seed and data, except for two lines. In
    `[num_iterations: …]` jobs have LightGBM's 100, and in `[num_threads: …]` of linear trees they have 0.

    Args:
        seed: The seed of the job.
        **hyperparameters: Hyperparameters of the job, except random sampling and `quant_train_renew_leaf`:
            jobs sample documents and features again for each tree and round gradients, unlike
            `lightgbm.train`. Also excluded are `num_iterations` and constraints by feature name, which
            `lightgbm.train` takes in its own form.

    Raises:
        InvalidArgument: A hyperparameter is unknown, out of bounds, or cannot be reproduced by LightGBM.
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
    with convert_invalid_input():
        requested = build(Hyperparameters, hyperparameters)
    for name in _BY_FEATURE_NAME:
        if getattr(requested, name):
            raise InvalidArgument(
                f"{name}: a job takes feature names; give lightgbm.train its own form, by column"
            )
    if requested.is_random:
        raise InvalidArgument(
            "random choices of a job are drawn again for each tree; give LightGBM's sampling parameters to"
            " lightgbm.train, whose trees then differ from those of a job"
        )
    if requested.use_quantized_grad and requested.quant_train_renew_leaf:
        raise InvalidArgument(
            "quant_train_renew_leaf: a job rounds the gradients first, so that leaf values do not depend on"
            " threads; give it to lightgbm.train, whose trees then differ from those of a job"
        )
    drops = {"drop_seed": drop_seed(seed)} if requested.boosting == "dart" else {}
    return {**requested.lightgbm(seed, threads=0), **fixed_seeds(seed), **drops}
