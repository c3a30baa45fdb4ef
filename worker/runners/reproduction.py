"""Run reproduction jobs."""

import hashlib

from core.errors import NotFound
from core.jobs.train import ReproduceJob
from core.store.artifacts.checksums import file_sha256
from core.store.artifacts.keys import model_key
from worker.job.lineage import differences, lineage_of
from worker.job.run import JobRun
from worker.job.systems import repair_models
from worker.runners.training import trained_by


def run_reproduction(run: JobRun, spec: ReproduceJob) -> None:
    """Repeat the training of a model and compare the bytes of both models; no model is stored.

    If the new bytes match the recorded checksum, replace a damaged or missing stored copy; `equal` is then
    still false.

    Raises:
        InvalidInput: The specification is no longer valid for the data.
        DatasetError: The datasets are no longer consistent with each other.
    """
    with trained_by(run, spec) as trained:
        _compare(run, spec, trained.training_result.content)


def _stored_sha256(run: JobRun, key: str) -> str | None:
    try:
        with run.store.artifacts.open(key) as file:
            return file_sha256(file)
    except NotFound:
        return None


def _compare(run: JobRun, spec: ReproduceJob, content: bytes) -> None:
    sha256 = hashlib.sha256(content).hexdigest()
    with run.store.read() as tx:
        model = tx.models.get(spec.model_id)
        lineage = lineage_of(tx, run, spec)
    stored_sha256 = _stored_sha256(run, model_key(model.id))
    if sha256 == model.sha256 != stored_sha256:
        repair_models(run.store, content)
    result = {
        "model_id": model.id,
        "equal": sha256 == model.sha256 == stored_sha256,
        "sha256": sha256,
        "expected_sha256": model.sha256,
        "stored_sha256": stored_sha256,
        "differences": None if model.lineage is None else differences(model.lineage, lineage),
    }
    with run.succeeding(result):
        pass
