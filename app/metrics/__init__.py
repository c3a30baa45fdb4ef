"""What Prometheus is told of the service."""

from app.metrics.metrics import Metrics
from app.metrics.requests import RequestMetrics

__all__ = ["Metrics", "RequestMetrics"]
