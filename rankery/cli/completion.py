"""What a shell completes: names that are known, and those of a service that answers quickly."""

from collections.abc import Callable, Iterable

Completer = Callable[[str], list[str]]


def completed(names: Iterable[str]) -> Completer:
    """Return a completer of fixed names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete
