"""The client, the command line and the embedded service of Rankery."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["AsyncClient", "Client", "__version__"]

if TYPE_CHECKING:
    from rankery.client import AsyncClient, Client


def __getattr__(name: str) -> Any:
    # The command line starts before it needs a client.
    if name in ("AsyncClient", "Client"):
        import rankery.client

        return getattr(rankery.client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
