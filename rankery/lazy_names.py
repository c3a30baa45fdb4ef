"""Import the public names of a package on first use."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazy_names(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports its names on first use.

    The names are those that the package imports only for type checkers, under `if TYPE_CHECKING`.

    Args:
        package: The package's `__name__`.

    Example:
        >>> lazy_names("rankery")("Client").__name__
        'Client'
    """

    def get(name: str) -> Any:
        module = _modules(package).get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return (
            import_module(f"{package}.{name}") if module == package else getattr(import_module(module), name)
        )

    return get


@cache
def _modules(package: str) -> dict[str, str]:
    """Return the module of each imported name; bytecode has them, and packed applications have no sources."""
    import dis  # used only here, and slow to import

    spec: Any = import_module(package).__spec__
    module, modules = "", {}
    for each in dis.get_instructions(spec.loader.get_code(package)):
        if each.opname == "IMPORT_NAME":
            module = each.argval
        elif each.opname == "IMPORT_FROM":
            modules[each.argval] = module
    return modules
