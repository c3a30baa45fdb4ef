"""Import the public names of a package on first use."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package that imports its names on first use.

    Args:
        package: The package's `__name__`.
        modules: Module of each name; a name whose module is `package.name` is the module itself.

    Example:
        >>> lazy_names("rankery", {"Client": "rankery.client"})("Client").__name__
        'Client'
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name])
        return module if modules[name] == f"{package}.{name}" else getattr(module, name)

    return get
