"""Import runs and models, and score with an imported model before it is stored."""

import hashlib
import json
import signal
import subprocess
from dataclasses import asdict
from pathlib import Path

import structlog

from core.data.trec import join_run, read_run
from core.doctor.agreement import run_findings
from core.doctor.report import Finding
from core.errors import ArtifactDamaged, DatasetError, InvalidInput, ModelError, RunError
from core.evaluation import rank_documents
from core.jobs import System
from core.jobs.folders import model_upload_folder, run_folder
from core.jobs.ingest import ImportModelJob, ImportRunJob
from core.scorers import with_line_feeds
from core.scorers.trial import TriedModel
from core.scoring.trial import check_names
from core.store import new_id
from core.store.artifacts.keys import model_key, model_upload_key, run_key
from core.stored import read_as
from core.subprocesses import harmless_environment, module_command, module_environment, signal_name
from worker.job.datasets import load_dataset
from worker.job.lineage import lineage_of, names_in_file
from worker.job.results import write_ranking
from worker.job.run import JobRun
from worker.job.systems import repair_models

_MIN_MEMORY_BYTES = 2 * 2**30  # four times the memory of Python with LightGBM and numba
_MEMORY_BYTES_PER_FILE_BYTE = 40
_POLL_SECONDS = 0.1
_UNUSABLE = "the model could not be loaded and scored"
_LOG = structlog.stdlib.get_logger(__name__)


def try_model(run: JobRun, path: Path, base_seconds: int = 60) -> TriedModel:
    """Run `core.scorers.trial` on a model's file in a separate process.

    Args:
        run: Job, whose interruptions end the process.
        base_seconds: Limit of CPU time for an empty file; each MiB of the file adds one second.

    Raises:
        ModelError: The model cannot be used, or its process crashed or exceeded a limit.
    """
    size_bytes = path.stat().st_size
    cpu_seconds = base_seconds + size_bytes // 2**20
    wanted_bytes = _MIN_MEMORY_BYTES + _MEMORY_BYTES_PER_FILE_BYTE * size_bytes
    memory_bytes = int(min(wanted_bytes, run.bounds.memory_bytes or wanted_bytes))
    max_features = run.settings.reading_limits.features
    arguments = (path, max_features, cpu_seconds, memory_bytes)
    with subprocess.Popen(  # noqa: S603 - nothing of the model is in the command
        module_command("core.process_start", "core.scorers.trial", *arguments),
        env=module_environment(harmless_environment()),  # a malicious model may control the process
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            output, errors = _wait(run, process)
        finally:
            process.kill()
    if process.returncode:
        _LOG.warning(
            "model.trial_ended", code=process.returncode, errors=errors[-2_000:].decode(errors="replace")
        )
        raise ModelError(_failure_reason(process.returncode, cpu_seconds))
    return _parse(output, max_features)


def _parse(output: bytes, max_features: int) -> TriedModel:
    """Parse the answer of the process, and check it: a malicious model may control the process."""
    try:
        tried = json.loads(output)
        if "error" in tried:
            raise ModelError(str(tried["error"]))
        model = read_as(TriedModel, tried)
        check_names(model.feature_names, max_features)
        if type(model.best_iteration) is not int:
            raise TypeError(f"{model.best_iteration!r} is not a number of iterations")
    except (ValueError, TypeError, RecursionError, InvalidInput) as error:
        raise ModelError(_UNUSABLE) from error
    return model


def _wait(run: JobRun, process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    while True:
        run.lease.check()
        try:
            return process.communicate(timeout=_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def _failure_reason(code: int, cpu_seconds: int) -> str:
    if code == -signal.SIGXCPU:
        return f"the model could not be loaded within {cpu_seconds} seconds of CPU time"
    if code < 0:
        return f"LightGBM crashed while loading the model ({signal_name(-code)})"
    return _UNUSABLE


def run_import(run: JobRun, spec: ImportRunJob) -> None:
    """Read a TREC run, store it as a ranking and remove the upload.

    Queries that the dataset does not have are ignored.

    Raises:
        RunError: The run cannot be read; the error has the line.
        InvalidInput: The run shares no query with the dataset, or cannot be joined with it.
    """
    run.artifacts.delete_on_end(run_folder(spec.upload_id))
    run.reporter.phase("reading")
    with run.store.artifacts.local(run_key(spec.upload_id)) as path:
        try:
            trec_run = read_run(path, spec.filename, run.settings.reading_limits)
        except DatasetError as error:
            raise RunError(*error.problems, more=error.more) from error
    run.reporter.phase("ranking")
    dataset = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    joined = join_run(dataset, trec_run)
    run.reporter.report(findings=[asdict(finding) for finding in run_findings(joined)] or None)
    ranking = write_ranking(
        run, rank_documents(joined.scores, joined), dataset.n_queries - joined.queries_without_results
    )
    with run.succeeding({"ranking_id": ranking.id}) as tx:
        ranking.add(tx, run.id, System(spec.name), spec.dataset_id)


_UNASSIGNED_CATEGORIES = Finding(
    code="unassigned-categories",
    severity="warning",
    title="The columns of the model's lists of categories are unknown: scores are right for codes only",
    advice="Send the position of each category in its list. Or train with one unordered category column of"
    " pandas for each categorical feature: LightGBM's text does not name the columns of its lists.",
    count=0,
    total=0,
    unit="features",
)


def run_model_import(run: JobRun, spec: ImportModelJob) -> None:
    """Validate an uploaded model, store it as the next version of its name, and remove the upload.

    The file is a LightGBM text model, or a safetensors file of a linear scorer or a network. An export of a
    stored model gets the feature names of that model, since LightGBM's text cannot represent every name.
    Damaged copies of models with the same content are replaced.

    Raises:
        ArtifactDamaged: The checksum of the upload does not match.
        ModelError: The model cannot be used.
    """
    run.artifacts.delete_on_end(model_upload_folder(spec.upload_id))
    run.reporter.phase("checking")
    model_id = new_id("mdl_")
    key = model_upload_key(spec.upload_id)
    with run.store.artifacts.local(key) as path:
        tried = try_model(run, path)
        content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != spec.sha256:
        raise ArtifactDamaged(key, "its checksum does not match the upload; import the model again")
    content = with_line_feeds(content)
    sha256 = hashlib.sha256(content).hexdigest()
    run.reporter.phase("storing")
    with run.artifacts.writing(model_key(model_id)) as file:
        file.write(content)
    repair_models(run.store, content)
    findings = [asdict(_UNASSIGNED_CATEGORIES)] if tried.has_unassigned_categories else None
    run.reporter.report(findings=findings)
    with run.succeeding({"model_id": model_id}) as tx:
        stored_names = (model.feature_names for model in tx.models.with_checksum(sha256))
        feature_names = next(stored_names, None) or list(tried.feature_names)
        tx.models.add(
            model_id,
            name=spec.model_name,
            job_id=run.id,
            feature_names=feature_names,
            best_iteration=tried.best_iteration,
            scorer=tried.scorer,
            sha256=sha256,
            size_bytes=len(content),
            findings=findings,
            description=spec.description,
            tags=spec.tags,
            lineage=lineage_of(tx, run, spec)
            | {"names_in_file": names_in_file(feature_names, tried.feature_names)},
            explanation=asdict(tried.explainability),
        )
