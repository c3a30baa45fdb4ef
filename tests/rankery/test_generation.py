"""The generated client matches the service and the asynchronous client."""

import inspect
from collections.abc import Mapping
from pathlib import Path

import rankery.client
from tools.generate_client import CLIENT, _synchronous, generated


def test_the_synchronous_client_is_current() -> None:
    """A change of the asynchronous client requires `make client`."""
    files = _synchronous()
    assert stale(files) == [], "run `make client`"
    assert set((CLIENT / "synchronous").glob("*.py")) <= set(files)


def test_generated_files_are_current() -> None:
    """A change of the API requires `make client`."""
    assert stale(generated()) == [], "run `make client`"


def stale(files: Mapping[Path, str]) -> list[str]:
    """Return the names of the files whose content differs."""
    return [path.name for path, text in files.items() if path.read_text() != text]


def test_every_public_method_is_documented() -> None:
    """Docstrings, which the guide shows, are a sentence; those of methods with options list all arguments."""
    for name in rankery.client.__all__:
        for method, function in inspect.getmembers(getattr(rankery.client, name), inspect.isfunction):
            if method.startswith("_") or not function.__module__.startswith("rankery.client.a"):
                continue
            documentation = inspect.getdoc(function) or ""
            assert documentation.partition("\n")[0].endswith("."), (name, method)
            arguments = set(inspect.signature(function).parameters) - {"self"}
            if len(arguments) > 2:
                assert all(f"{argument}: " in documentation for argument in arguments), (name, method)
