"""Load and store click logs for a job."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from core.clicks.files import MANIFEST, file_names, map_click_log
from core.clicks.log import ClickLog
from core.clicks.training_data import training_data
from core.doctor.report import Finding
from core.jobs.folders import log_claim_folder, log_claims_folders
from core.store import new_id
from core.store.sources.scratch import scratch_folder
from worker.job.datasets import KeyedDataset
from worker.job.run import JobRun


def load_click_log(run: JobRun, log_id: str) -> ClickLog:
    """Map a stored click log into memory.

    Raises:
        NotFound: The log was deleted.
        WrongState: The log is not ready.
        ArtifactDamaged: The checksum of a column does not match.
    """
    with run.store.read() as tx:
        folder = tx.click_logs.ready(log_id).folder
    verified = run.store.verified
    with contextlib.ExitStack() as stack:
        names = file_names(stack.enter_context(verified.local(f"{folder}/{MANIFEST}")))
        # Mapped files can be read after the block has deleted local copies of remote files.
        return map_click_log(
            {name: stack.enter_context(verified.local(f"{folder}/{name}")) for name in names}
        )


@contextlib.contextmanager
def log_folder(run: JobRun) -> Iterator[Path]:
    """Provide an empty folder for the columns of a log; delete the folder after the block.

    Folders of killed processes are removed after a day.
    """
    parent = run.settings.data_dir / "cache" / "click-logs"
    with scratch_folder(parent, new_id(f"{run.id}-")) as scratch:
        folder = scratch / "columns"
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(scratch)


def store_click_log(run: JobRun, log_id: str, folder: Path) -> str:
    """Store the columns of a log; return the folder of the artifacts, for `ClickLogs.mark_ready`.

    Args:
        run: The job that makes the log.
        log_id: Id of the log.
        folder: A folder that `LogWriter` or `write_click_log` wrote.
    """
    for claim_folder in log_claims_folders(log_id, run.id, run.lease.token - 1):
        run.artifacts.remove(claim_folder)
    target = log_claim_folder(log_id, run.id, run.lease.token)
    for path in sorted(folder.iterdir()):
        run.lease.check()
        with path.open("rb") as source, run.artifacts.writing(f"{target}/{path.name}") as file:
            shutil.copyfileobj(source, file, 2**20)
    return target


def lists_as_training_data(
    run: JobRun, log_id: str, features: KeyedDataset
) -> tuple[KeyedDataset, tuple[Finding, ...]]:
    """Return the lists of a click log as training data, with the features of a dataset, and findings.

    Raises:
        InvalidInput: No clicked document of the log has features.
        NotFound: The log was deleted.
    """
    lists = training_data(load_click_log(run, log_id), features.dataset)
    key = f"{features.features_key} in click log {log_id}"
    return KeyedDataset(lists.dataset, key, features.data_key), lists.findings
