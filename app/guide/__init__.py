"""The guide under /guide/: what `make guide` built from `docs/`."""

from app.guide.files import mount_guide

__all__ = ["mount_guide"]
