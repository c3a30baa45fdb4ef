"""Artifacts: bytes under keys, in a local folder, on S3 or any fsspec file system."""
