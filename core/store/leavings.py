"""What a job that is never carried out to its end leaves among the artifacts."""

from core.store.dataset_keys import claims_folders, upload_folder
from core.store.result_keys import checkpoint_folder, model_upload_folder, run_folder
from core.store.tables import Job


def leavings(job: Job) -> list[str]:
    """Return the folders that a job was to read and that its lost claims may have written."""
    if job.kind == "ingest" and (dataset_id := job.spec.get("dataset_id")):
        return [upload_folder(dataset_id), *claims_folders(job.id, job.token)]
    if job.kind == "import" and (upload_id := job.spec.get("upload_id")):
        return [run_folder(upload_id)]
    if job.kind == "import-model" and (upload_id := job.spec.get("upload_id")):
        return [model_upload_folder(upload_id)]
    if job.kind in ("train", "reproduce"):
        return [checkpoint_folder(job.id)]
    return []
