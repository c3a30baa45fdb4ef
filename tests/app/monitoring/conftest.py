"""Fixtures and helpers that read metrics as Prometheus does."""

from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.monitoring import metrics
from tests.app.conftest import TestClient

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def scrape(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Samples]:
    """Function that scrapes the metrics and reads the database at each call."""
    monkeypatch.setattr(metrics, "FRESH_SECONDS", 0.0)

    def read() -> Samples:
        return samples(client.get("/metrics").text)

    return read


def samples(text: str) -> Samples:
    """Parse the text of a scrape into values by sample name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def sample_key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the key of a sample in the result of `samples`."""
    return name, frozenset(labels.items())
