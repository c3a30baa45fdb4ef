"""Search for the processes of a service by their environment and working folder."""

import time
from pathlib import Path


def processes_of(data_dir: Path) -> dict[int, str]:
    """Return the command lines of every live process that was started for a data folder.

    The broker overwrites its environment with its title, but works in a folder of the data folder.
    """
    mark = f"RANKERY_DATA_DIR={data_dir}".encode()
    commands = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            started_for_it = mark in (folder / "environ").read_bytes().split(b"\0")
            if started_for_it or (folder / "cwd").readlink().is_relative_to(data_dir):
                commands[int(folder.name)] = _command(folder)
        except OSError:
            continue  # the process ended during the search
    return commands


def wait_until_none(data_dir: Path, limit_seconds: float) -> dict[int, str]:
    """Wait until every process of a data folder has ended; return the remaining ones after the limit."""
    deadline = time.monotonic() + limit_seconds
    while (remaining := processes_of(data_dir)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return remaining


def wait_for_process(data_dir: Path, words: str, limit_seconds: float = 30.0) -> int:
    """Wait for a process of a data folder with these words in its command line; return the lowest id."""
    deadline = time.monotonic() + limit_seconds
    while time.monotonic() < deadline:
        pids = [pid for pid, command in processes_of(data_dir).items() if words in command]
        if pids:
            return min(pids)
        time.sleep(0.05)
    raise AssertionError(f"no process {words!r} among {processes_of(data_dir)}")


def _command(folder: Path) -> str:
    return (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
