"""Under which keys the artifacts of datasets are kept."""

from core.jobs.folders import claim_folder, upload_folder


def upload_key(dataset_id: str) -> str:
    """Return the key of the judged documents as they were sent."""
    return f"{upload_folder(dataset_id)}/upload"


def query_sizes_key(dataset_id: str) -> str:
    """Return the key of the side file with the sizes of the queries, as it was sent."""
    return f"{upload_folder(dataset_id)}/query_sizes"


def new_data_key(job_id: str, token: int) -> str:
    """Return the key of the Parquet that one claim of a job writes; no other claim uses it."""
    return f"{claim_folder(job_id, token)}/data.parquet"


def data_folder(data_key: str) -> str:
    """Return the folder with all that belongs to a stored content."""
    return data_key.rpartition("/")[0]


def queries_key(data_key: str) -> str:
    """Return the key of the index of a content's queries."""
    return f"{data_folder(data_key)}/queries.parquet"


def features_key(data_key: str) -> str:
    """Return the key of the profiles of a content's features, as JSON."""
    return f"{data_folder(data_key)}/features.json"
