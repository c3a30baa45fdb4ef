"""Folders of the artifacts that jobs read and write; most of them are deleted when the job ends.

`core/store/artifacts/keys.py` has the other folders, and the keys within them.
"""


def dataset_upload_folder(dataset_id: str) -> str:
    """Return the folder of a dataset's uploaded bytes, kept until a job has read them."""
    return f"datasets/{dataset_id}"


def claim_folder(job_id: str, token: int) -> str:
    """Return the folder of the dataset that one claim of a job writes."""
    return f"data/{job_id}-{token}"


def claims_folders(job_id: str, claims: int) -> list[str]:
    """Return the folders of the first `claims` claims of a job, to remove those of unsuccessful claims."""
    return [claim_folder(job_id, token) for token in range(1, claims + 1)]


def run_folder(upload_id: str) -> str:
    """Return the folder of an uploaded run, kept until it is read."""
    return f"runs/{upload_id}"


def model_upload_folder(upload_id: str) -> str:
    """Return the folder of an uploaded model, kept until it is imported."""
    return f"model-uploads/{upload_id}"


def checkpoint_folder(job_id: str) -> str:
    """Return the folder of a training's checkpoints, kept until the training ends."""
    return f"checkpoints/{job_id}"


def candidates_folder(job_id: str) -> str:
    """Return the folder of the candidates' held-out scores, kept until the automatic training ends."""
    return f"candidates/{job_id}"


def click_log_folder(log_id: str) -> str:
    """Return the folder of all artifacts of a click log."""
    return f"click-logs/{log_id}"


def click_log_upload_folder(log_id: str) -> str:
    """Return the folder of the uploaded bytes of a click log, kept until they are read."""
    return f"{click_log_folder(log_id)}/upload"


def log_claim_folder(log_id: str, job_id: str, token: int) -> str:
    """Return the folder of the columns of a click log that one claim of a job writes."""
    return f"{click_log_folder(log_id)}/{job_id}-{token}"


def log_claims_folders(log_id: str, job_id: str, claims: int) -> list[str]:
    """Return the folders of a click log job's first `claims` claims, to remove those of unsuccessful ones."""
    return [log_claim_folder(log_id, job_id, token) for token in range(1, claims + 1)]
