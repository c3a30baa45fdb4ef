"""Check that the server's packages are installed, and that no other package shadows them."""

from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from rankery.errors import PackageMissing, PackageShadowed

_NAMES = ("app", "core", "worker")
_DISTRIBUTION = "rankery-server"


def require_server_package() -> None:
    """Check that `app`, `core` and `worker` are packages of Rankery, without importing them.

    Raises:
        PackageMissing: The server package is not installed.
        PackageShadowed: Another folder or module of one of these names comes first on Python's path.
    """
    for name in _NAMES:
        spec = find_spec(name)
        if spec is None:
            raise PackageMissing(f"this needs the server of Rankery: pip install {_DISTRIBUTION}")
        path = _location(spec)
        if not _is_own(path, name):
            raise PackageShadowed(
                f"{path} hides Rankery's package `{name}`: rename it, or take its folder off Python's path "
                "(PYTHONPATH; with `python -P` the working directory is not on it)"
            )


def _location(spec: ModuleSpec) -> Path:
    """Return the folder of a package, or the file of a module."""
    folders = list(spec.submodule_search_locations or ())
    return Path(folders[0] if folders else spec.origin or spec.name).resolve()


def _is_own(path: Path, name: str) -> bool:
    """Return whether a package is beside this one, or belongs to the installed server distribution."""
    if path == Path(__file__).resolve().parents[1] / name:
        return True
    try:
        return path == Path(str(distribution(_DISTRIBUTION).locate_file(name))).resolve()
    except PackageNotFoundError:
        return False
