"""References of the Python client and the library, generated from their docstrings."""

import inspect
import re
from collections.abc import Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any

import rankery.comparison
import rankery.lightgbm
import rankery.metrics
from rankery import client, errors

# Stored objects, whose fields are documented in the HTTP reference.
_STORED = (
    client.Dataset,
    client.Job,
    client.Model,
    client.Evaluation,
    client.Comparison,
    client.Ranking,
)
_RESOURCES = (*_STORED, client.Grid, client.Schedule, client.Webhook, client.Pages)
_OBJECTS = "http/objects.md"
_MAX_SIGNATURE_LENGTH = 100
# Methods called by notebooks and pydantic.
_FOR_DISPLAY = frozenset({"card", "model_post_init", "summary"})
_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Example):$")
_LIBRARY = """\
# Python library

Functions that compute in the calling process, without a service. They need the server's package,
`pip install rankery-server`. Guides: [in LightGBM](../how-to/lightgbm.md),
[in scikit-learn](../how-to/scikit-learn.md), [to measure and compare](../how-to/in-memory.md). Invalid
arguments raise `rankery.errors.InvalidArgument`, a `ValueError`.

"""
_INTRODUCTION = """\
# Python client

`rankery.Client` calls a service. `rankery.AsyncClient` has the same methods as coroutines, and lists for
`async for`. Methods return typed objects, which `mypy --strict` checks; fields that a newer service adds
are ignored.

"""


def pages() -> dict[str, str]:
    """Return the reference pages by path."""
    of_client = [
        _INTRODUCTION,
        "".join(_class(rankery.Client)),
        *("".join(_class(cls)) for cls in _RESOURCES),
    ]
    of_library = [
        _LIBRARY,
        *map(_function, _named_functions(rankery.lightgbm, ("objective", "metric", "parameters"))),
        "".join(_class(rankery.RankeryRanker)),
        "".join(_class(rankery.RankeryAutoRanker)),
        _function(("rankery.metrics.evaluate", rankery.metrics.evaluate)),
        "".join(_class(rankery.metrics.Evaluation)),
        _function(("rankery.compare", rankery.compare)),
        "".join(_class(rankery.comparison.Comparison)),
    ]
    return {
        "reference/client.md": "".join([*of_client, *_errors()]),
        "reference/library.md": "".join(of_library),
    }


def _named_functions(module: ModuleType, functions: Sequence[str]) -> list[tuple[str, Any]]:
    return [(f"{module.__name__}.{name}", getattr(module, name)) for name in functions]


def _function(named: tuple[str, Any]) -> str:
    name, function = named
    call = f"{name.rpartition('.')[2]}{_signature(function)}"
    return f"## `{name}`\n\n```python\n{call}\n```\n\n{_prose(function)}\n\n"


def _class(cls: type) -> Iterator[str]:
    yield f"## {cls.__name__}\n\n{_prose(cls)}\n\n"
    if cls in _STORED:
        yield f"The fields are those of [{cls.__name__}]({_OBJECTS}#{cls.__name__.lower()}).\n\n"
    for name, member in _methods(cls):
        anchor = f"{cls.__name__}-{name}".lower().replace("_", "-")
        yield f"### `{name}` {{ #{anchor} }}\n\n"
        if isinstance(member, FunctionType):
            yield f"```python\n{name}{_signature(member)}\n```\n\n"
        yield f"{_prose(member)}\n\n"


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public members that a class and its bases in the client define, in source order."""
    seen = set()
    for base in (cls, *cls.__mro__[1:]):
        if not base.__module__.startswith("rankery.") or ".schemas" in base.__module__:
            continue
        for name, member in vars(base).items():
            public = isinstance(member, FunctionType | property) and not name.startswith("_")
            if public and name not in _FOR_DISPLAY and name not in seen:
                seen.add(name)
                yield name, member


def _signature(function: FunctionType) -> str:
    """Return the parameters with their defaults, without types."""
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    short = str(inspect.Signature(parameters))
    if len(short) < _MAX_SIGNATURE_LENGTH:
        return short
    arguments = [str(parameter) for parameter in parameters]
    first = next((i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY), len(arguments))
    return "(\n    " + ",\n    ".join([*arguments[:first], "*", *arguments[first:]]) + ",\n)"


def _prose(target: Any) -> str:
    """Return a docstring as Markdown: its sections as lists."""
    lines = _fenced((inspect.getdoc(target) or "").splitlines())
    markdown: list[str] = []
    section = None
    for line in lines:
        if heading := _SECTION.match(line):
            section = heading[1]
            markdown += ["", f"**{section}**", ""]
        elif section in ("Args", "Attributes", "Raises"):
            markdown.append(re.sub(r"^ +", "  ", re.sub(r"^ {4}(\*{0,2}\w+): ", r"- `\1`: ", line)))
        else:
            markdown.append(line.removeprefix("    ") if section else line)
    return "\n".join(markdown).strip()


def _fenced(lines: list[str]) -> list[str]:
    """Fence the last section if it is an example from an interpreter session."""
    if ">>> " not in "".join(lines):
        return lines
    first = lines.index("Example:") + 1
    return [*lines[:first], "    ```pycon", *lines[first:], "    ```"]


def _errors() -> Iterator[str]:
    yield "## Errors\n\nAll errors derive from `rankery.errors.UserError`; the text is one sentence.\n\n"
    yield "| error | when |\n| --- | --- |\n"
    for name, error in vars(errors).items():
        if inspect.isclass(error) and issubclass(error, errors.UserError) and error is not errors.UserError:
            yield f"| `{name}` | {(inspect.getdoc(error) or '').splitlines()[0]} |\n"
