"""Health, Prometheus metrics and the overview."""
