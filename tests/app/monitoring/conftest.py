"""Metrics as Prometheus reads them."""

from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.monitoring import metrics
from tests.app.conftest import TestClient

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def scrape(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Samples]:
    """Reads the metrics, and the database for them each time."""
    monkeypatch.setattr(metrics, "FRESH_SECONDS", 0.0)

    def read() -> Samples:
        return samples(client.get("/metrics").text)

    return read


def samples(text: str) -> Samples:
    """Read an exposition: values by the name of the sample and its labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def named(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """Name a sample."""
    return name, frozenset(labels.items())
