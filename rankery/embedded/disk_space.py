"""Free space on the disk of a data folder."""

import shutil
from pathlib import Path

MEGABYTE = 10**6
# A start in a new folder takes up to 0.7 MB: two copies of the database during migration, and the logs.
START_BYTES = 4 * MEGABYTE


def disk_full_message(data_dir: Path) -> str | None:
    """Return an error message if the disk of a data folder is too full for the service, else None."""
    folder = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes >= START_BYTES:
        return None
    return (
        f"the disk of {data_dir} is full: {free_bytes / MEGABYTE:.1f} MB are free, and the service needs"
        f" {START_BYTES / MEGABYTE:g} MB to start; free space there, or choose another folder with --data-dir"
    )
