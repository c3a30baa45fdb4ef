"""Try out an untrusted model in a separate process."""

import json
import signal
import subprocess
from pathlib import Path

import structlog

from core.errors import InvalidInput, ModelError
from core.scorers.trial import TriedModel
from core.scoring.trial import check_names
from core.stored import read_as
from core.subprocesses import harmless_environment, module_command, module_environment, signal_name
from worker.job.run import JobRun

_MIN_MEMORY_BYTES = 2 * 2**30  # four times the memory of Python with LightGBM and numba
_MEMORY_BYTES_PER_FILE_BYTE = 40
_POLL_SECONDS = 0.1
_UNUSABLE = "the model could not be loaded and scored"
_LOG = structlog.stdlib.get_logger(__name__)


def try_model(run: JobRun, path: Path, base_seconds: int = 60) -> TriedModel:
    """Run `core.scorers.trial` on a model's file in a separate process.

    Args:
        run: Job, whose interruptions end the process.
        path: File of the model.
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
        module_command("core.scorers.trial", *arguments),
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
