"""Specifications as earlier releases stored them, and the JSON that this release writes for each."""

import json
from typing import Any

import pytest

from core.jobs import JobKind, parse
from tests.core.jobs.specifications import GOLDEN

STORED = [
    pytest.param(entry, id=f"{name}-{entry['kind']}-{number}")
    for name, entries in GOLDEN.items()
    for number, entry in enumerate(entries)
]


def test_the_golden_files_hold_every_kind() -> None:
    """A kind without a golden specification could change its stored JSON unseen."""
    kinds = {entry["kind"] for param in STORED for entry in param.values if isinstance(entry, dict)}
    assert kinds == set(JobKind), "add tests/core/jobs/golden/<kind>.json: the JSON that the new kind stores"


@pytest.mark.parametrize("entry", STORED)
def test_a_golden_specification_is_read_and_written_as_before(entry: dict[str, Any]) -> None:
    """During an upgrade, workers of each release run jobs that the other release has queued."""
    specification = parse(entry["kind"], entry["stored"])
    written = json.loads(json.dumps(specification.to_json()))
    dropped = entry.get("dropped", ())
    expected = {name: value for name, value in entry["stored"].items() if name not in dropped}
    assert written == expected | entry.get("changed", {})
    assert parse(entry["kind"], written) == specification
