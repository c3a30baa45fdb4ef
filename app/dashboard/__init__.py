"""The dashboard: static pages whose scripts read the public API, nothing else."""

from app.dashboard.assets import mount_static
from app.dashboard.routes import router

__all__ = ["mount_static", "router"]
