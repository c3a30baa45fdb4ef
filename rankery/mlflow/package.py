"""Lazy import of MLflow."""

import logging
import os
from typing import Any

from rankery.errors import PackageMissing

# MLflow sends telemetry by default, which may contain a model's name.
_NO_TELEMETRY = "MLFLOW_DISABLE_TELEMETRY"


def import_mlflow() -> Any:
    """Import MLflow without telemetry, and return the package.

    Raises:
        PackageMissing: MLflow, numpy or pandas is not installed.
    """
    os.environ.setdefault(_NO_TELEMETRY, "true")
    try:
        import mlflow
        import mlflow.pyfunc
        import mlflow.types.schema
        import pandas  # noqa: F401 - mlflow-skinny is installed without it
    except ImportError as missing:
        raise PackageMissing(f"{missing.name} is not installed: pip install 'rankery[mlflow]'") from missing
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    return mlflow
