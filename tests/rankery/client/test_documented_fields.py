"""Keyword arguments that methods of the client take as a typed dictionary."""

import inspect
import re
from typing import Unpack, get_args, is_typeddict

import pytest

from rankery import Client

_FIELDS = {
    name: fields
    for name, method in inspect.getmembers(Client, inspect.isfunction)
    for annotation in method.__annotations__.values()
    for fields in get_args(annotation)
    if is_typeddict(fields) and annotation == Unpack[fields]
}


@pytest.mark.parametrize("name", _FIELDS)
def test_the_help_of_a_method_names_each_field(name: str) -> None:
    """Completion in notebooks does not list these fields; its docstring, or one that it refers to, does."""
    documentation = inspect.getdoc(getattr(Client, name)) or ""
    for other in re.findall(r"[Aa]s in `(\w+)`", documentation):
        documentation += inspect.getdoc(getattr(Client, other)) or ""
    assert [field for field in _FIELDS[name].__annotations__ if f"`{field}`" not in documentation] == []
