"""Keys of artifacts: uploads, datasets, models, results and files of running jobs."""

from core.jobs import folders


def dataset_upload_key(dataset_id: str) -> str:
    """Return the key of the uploaded file of a dataset's judged documents."""
    return f"{folders.dataset_upload_folder(dataset_id)}/upload"


def query_sizes_key(dataset_id: str) -> str:
    """Return the key of the uploaded file of a dataset's query sizes."""
    return f"{folders.dataset_upload_folder(dataset_id)}/query_sizes"


def click_log_upload_key(log_id: str, field: str) -> str:
    """Return the key of an uploaded file of a click log, named by its form field."""
    return f"{folders.click_log_upload_folder(log_id)}/{field}"


def resumable_upload_folder(upload_id: str) -> str:
    """Return the folder of the parts of a resumable upload."""
    return f"uploads/{upload_id}"


def upload_part_key(upload_id: str, name: str) -> str:
    """Return the key of a part of a resumable upload."""
    return f"{resumable_upload_folder(upload_id)}/{name}"


def new_data_key(job_id: str, token: int) -> str:
    """Return the key of the Parquet file that one claim of a job writes.

    `token`: number of the claim, from 1.
    """
    return f"{folders.claim_folder(job_id, token)}/data.parquet"


def data_folder(data_key: str) -> str:
    """Return the folder of the content of a dataset, which datasets with the same digest share."""
    return data_key.rpartition("/")[0]


def queries_key(data_key: str) -> str:
    """Return the key of the index of a dataset's queries, next to its content."""
    return f"{data_folder(data_key)}/queries.parquet"


def features_key(data_key: str) -> str:
    """Return the key of the profiles of a dataset's features, as JSON, next to its content."""
    return f"{data_folder(data_key)}/features.json"


def evaluation_key(evaluation_id: str) -> str:
    """Return the key of an evaluation's values: `query_id`, and one column for each metric."""
    return f"evaluations/{evaluation_id}/queries.parquet"


def evaluation_segments_key(evaluation_id: str) -> str:
    """Return the key of the segments of an evaluation's queries."""
    return f"evaluations/{evaluation_id}/segments.parquet"


def comparison_segments_key(comparison_id: str) -> str:
    """Return the key of the segments of a comparison's queries."""
    return f"comparisons/{comparison_id}/segments.parquet"


def comparison_key(comparison_id: str) -> str:
    """Return the key of a comparison's values: `query_id`, and for each metric a list of values by system."""
    return f"comparisons/{comparison_id}/queries.parquet"


def ranking_key(ranking_id: str) -> str:
    """Return the key of the order of a ranking's documents, as Parquet."""
    return f"rankings/{ranking_id}/ranking.parquet"


def experiment_report_key(experiment_id: str, job_id: str, token: int) -> str:
    """Return the key of a report of an experiment, as JSON; each claim of a job writes its own.

    `token`: number of the claim, from 1.
    """
    return f"experiments/{experiment_id}/{job_id}-{token}/report.json"


def samples_folder(samples_id: str) -> str:
    """Return the folder of one artifact with sampled scoring requests."""
    return f"scored/{samples_id}"


def samples_key(samples_id: str) -> str:
    """Return the key of an artifact with sampled scoring requests and scores, as gzipped JSON lines."""
    return f"{samples_folder(samples_id)}/samples.jsonl.gz"


def run_key(upload_id: str) -> str:
    """Return the key of a run file as uploaded."""
    return f"{folders.run_folder(upload_id)}/upload"


def model_key(model_id: str) -> str:
    """Return the key of a model's file: LightGBM's text, or the file of a network or a sum."""
    return f"models/{model_id}/model.txt"


def validation_key(model_id: str) -> str:
    """Return the key of a model's validation values: `query_id`, and one column for each metric."""
    return f"models/{model_id}/validation.parquet"


def folds_key(model_id: str) -> str:
    """Return the key of the folds of a model's cross-validation: `query_id` and `fold`."""
    return f"models/{model_id}/folds.parquet"


def model_upload_key(upload_id: str) -> str:
    """Return the key of a model file that was uploaded for import."""
    return f"{folders.model_upload_folder(upload_id)}/upload"


def checkpoint_key(job_id: str, token: int, number: int) -> str:
    """Return the key of a checkpoint.

    `token`: number of the claim, from 1; `number`: number of the checkpoint within the claim, from 1.
    """
    return f"{folders.checkpoint_folder(job_id)}/{token}-{number}.npz"


def study_folder(study_id: str) -> str:
    """Return the folder of the artifacts of a study's trials."""
    return f"studies/{study_id}"


def trial_key(study_id: str, number: int) -> str:
    """Return the key of a NumPy file with the objective value of each query in a trial."""
    return f"{study_folder(study_id)}/{number}/values.npy"


def candidate_key(job_id: str, name: str) -> str:
    """Return the key of a file of a candidate, such as its held-out scores or its model."""
    return f"{folders.candidates_folder(job_id)}/{name}"
