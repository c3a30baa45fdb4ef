"""Serve the guide under /guide/, which `make guide` builds from `docs/`."""

from app.guide.files import mount_guide
