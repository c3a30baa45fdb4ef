"""Folders of artifacts that belong to a job and are removed when it ends."""


def upload_folder(dataset_id: str) -> str:
    """Return where the bytes of a dataset are, as they were sent, until it was read."""
    return f"datasets/{dataset_id}"


def claim_folder(job_id: str, token: int) -> str:
    """Return where one claim of an ingestion writes the dataset; no other claim uses it."""
    return f"data/{job_id}-{token}"


def claims_folders(job_id: str, claims: int) -> list[str]:
    """Return all that the first so many claims of a job may have written, for removal when they are lost."""
    return [claim_folder(job_id, token) for token in range(1, claims + 1)]


def run_folder(upload_id: str) -> str:
    """Return where the bytes of a run are, as they were sent, until it was read."""
    return f"runs/{upload_id}"


def model_upload_folder(upload_id: str) -> str:
    """Return where the bytes of a model from elsewhere are, as they were sent, until it was imported."""
    return f"model-uploads/{upload_id}"


def checkpoint_folder(job_id: str) -> str:
    """Return where the checkpoints of a training are until it has ended."""
    return f"checkpoints/{job_id}"
