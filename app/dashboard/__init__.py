"""The dashboard: static pages whose scripts read the public API, nothing else."""

from app.dashboard.assets import mount_static
from app.dashboard.routes import NotFoundPages, router
from app.dashboard.sign_in import router as sign_in_router
