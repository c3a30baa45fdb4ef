"""Run a command that the kernel kills when its parent dies.

Usage: `python -m rankery.embedded.tether <pid of the parent> <command…>`.

On Linux the process asks for SIGKILL on its parent's death (`PR_SET_PDEATHSIG`, which survives exec) and
then becomes the command. Other systems lack this feature: there the command is simply run, and a
supervisor killed by SIGKILL leaves its processes running.

The signal is bound to the parent's *thread*: start a command from a thread that lives as long as the command.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when the parent dies; exit if the parent is dead already."""
    if not sys.platform.startswith("linux"):
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "prctl")
    # The parent may have died before the call to prctl; the kernel then sends nothing.
    if os.getppid() != parent_pid:
        os._exit(1)


def main(arguments: list[str]) -> None:
    """Replace this process by the command after the parent's process id."""
    parent_pid, command = int(arguments[0]), arguments[1:]
    die_with_parent(parent_pid)
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
