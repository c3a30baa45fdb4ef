"""What Prometheus is told of the service."""

from app.http.request_metrics import RequestMetrics
from app.monitoring.metrics import Metrics

__all__ = ["Metrics", "RequestMetrics"]
