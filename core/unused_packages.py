"""Skip optional packages that libraries import if installed but the service does not use."""

import sys

# Of pyarrow, with its first array, and of LightGBM: 2 s of processor time and 65 MB a process.
_UNUSED = frozenset({"pandas", "sklearn"})


class _LeftOut:
    """Find no unused package. A None in `sys.modules`, shorter, is taken for the module by pyarrow."""

    def find_spec(self, name: str, *_: object) -> None:
        if name in _UNUSED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def leave_out_unused() -> None:
    """Make these packages appear missing in this process; call it before those libraries are imported.

    For processes of the service alone: users of core as a library may pass data frames.
    """
    if not any(isinstance(finder, _LeftOut) for finder in sys.meta_path):
        sys.meta_path.insert(0, _LeftOut())
