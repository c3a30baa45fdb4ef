"""Import the public names of a package on first use."""

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import get_data
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
    """Return the module of each name, read from the source of the package."""
    statements = ast.parse(get_data(package, "__init__.py") or b"").body
    imports = [each for block in statements if isinstance(block, ast.If) for each in block.body]
    return {
        alias.name: each.module
        for each in imports
        if isinstance(each, ast.ImportFrom) and each.module is not None
        for alias in each.names
    }
