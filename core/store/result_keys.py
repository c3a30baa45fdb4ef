"""Under which keys the artifacts of results are kept."""

from core.jobs.folders import checkpoint_folder, model_upload_folder, run_folder


def evaluation_key(evaluation_id: str) -> str:
    """Return the key of an evaluation's values: `query_id`, and a column a metric."""
    return f"evaluations/{evaluation_id}/queries.parquet"


def comparison_key(comparison_id: str) -> str:
    """Return the key of a comparison's values: `query_id`, and a column a metric with a value a system."""
    return f"comparisons/{comparison_id}/queries.parquet"


def ranking_key(ranking_id: str) -> str:
    """Return the key of a ranking."""
    return f"rankings/{ranking_id}/ranking.parquet"


def run_key(upload_id: str) -> str:
    """Return the key of a run as it was sent."""
    return f"{run_folder(upload_id)}/upload"


def model_key(model_id: str) -> str:
    """Return the key of a model's LightGBM text."""
    return f"models/{model_id}/model.txt"


def model_upload_key(upload_id: str) -> str:
    """Return the key of a model as it was sent."""
    return f"{model_upload_folder(upload_id)}/upload"


def checkpoint_key(job_id: str, token: int, iteration: int) -> str:
    """Return the key of a checkpoint."""
    return f"{checkpoint_folder(job_id)}/{token}-{iteration}.npz"
