"""Artifacts: large bytes under keys, on a local disk or on S3."""
