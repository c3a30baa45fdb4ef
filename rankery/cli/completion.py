"""Shell completion of names."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer

from rankery.control_characters import visible

_TIMEOUT_SECONDS = 0.7
_MAX_OFFERS = 100
_WORD_BREAKS = frozenset("@:=")  # of bash, within references and options
_SPECIAL = re.compile(r"[^\w@%+=:,./-]")  # to bash, outside quotes


@contextmanager
def names_split_by_bash() -> Iterator[None]:
    """Let bash complete names with `@`, `:` and `=`, at which it splits words, and names with blanks.

    The parts are joined again, and completions are printed without the parts that bash keeps. Blanks and
    other special characters are escaped unless the word begins with a quote.
    """
    if os.environ.get("_RANKERY_COMPLETE") != "complete_bash":
        yield
        return
    current = int(os.environ["COMP_CWORD"])
    words = os.environ["COMP_WORDS"].split("\n")[: current + 1]
    joined = words[:1]
    for before, word in pairwise(words):
        if _splits(before) or _splits(word):
            joined[-1] += word
        else:
            joined.append(word)
    kept = joined[-1] if _splits(words[-1]) else joined[-1].removesuffix(words[-1])
    os.environ.update(COMP_WORDS="\n".join(joined), COMP_CWORD=str(current + len(joined) - len(words)))
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            yield
    finally:
        is_quoted = joined[-1].startswith(("'", '"'))
        for completion in printed.getvalue().splitlines():
            word = completion if is_quoted else _SPECIAL.sub(r"\\\g<0>", completion)
            typer.echo(word.removeprefix(kept))


def _splits(word: str) -> bool:
    return word != "" and set(word) <= _WORD_BREAKS


def complete_from(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a completer of fixed names."""
    candidates = tuple(names)

    def complete(incomplete: str) -> list[str]:
        return [name for name in candidates if name.startswith(incomplete)]

    return complete


def complete_from_service(noun: str) -> Callable[[typer.Context, str], list[tuple[str, str]]]:
    """Return a completer of the objects of a running service.

    Args:
        noun: Key of `_OFFERS`.
    """

    def complete(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        # Errors must not be printed into the line that the user is typing.
        method, offers = _OFFERS[noun]
        try:
            items = _newest(context.params, method)
        except Exception:  # noqa: BLE001
            return []
        offered = dict(offer for item in items for offer in offers(item)).items()
        return [
            (name, visible(description, one_line=True))
            for name, description in offered
            if name.startswith(incomplete) and visible(name, one_line=True) == name
        ]

    return complete


def _newest(given: dict[str, Any], method: str) -> Iterable[Any]:
    """Return the newest objects of the service that the command line selects, without starting a service."""
    from rankery.client import Client
    from rankery.embedded.lock import DataFolderLock

    folder = given.get("data_dir") or os.environ.get("RANKERY_DATA_DIR") or "rankery-data"
    url = given.get("url") or os.environ.get("RANKERY_URL") or DataFolderLock(Path(folder)).read_url()
    if url is None:
        return []
    with Client(url, api_key=given.get("api_key"), timeout_seconds=_TIMEOUT_SECONDS, retries=0) as client:
        return list(getattr(client, method)().first(_MAX_OFFERS))


# By noun: the list method of the client, and a function from an item to (completion, description) pairs.
_OFFERS: dict[str, tuple[str, Callable[[Any], list[tuple[str, str]]]]] = {
    "click-logs": ("click_logs", lambda log: [(log.id, log.name), (log.name, log.id)]),
    "datasets": ("datasets", lambda dataset: [(dataset.id, dataset.name), (dataset.name, dataset.id)]),
    "interleavings": ("interleavings", lambda one: [(one.id, one.name), (one.name, one.id)]),
    "jobs": ("jobs", lambda job: [(job.id, f"{job.kind}, {job.status}")]),
    "models": (
        "models",
        lambda model: [
            (model.reference, model.id),
            *((f"{model.name}@{alias}", f"version {model.version}") for alias in model.aliases),
        ],
    ),
    "model names": ("models", lambda model: [(model.name, "")]),
    "schedules": ("schedules", lambda one: [(one.id, one.name), (one.name, one.id)]),
    "aliases": (
        "models",
        lambda model: [(f"{model.name}@{alias}", f"version {model.version}") for alias in model.aliases],
    ),
}
