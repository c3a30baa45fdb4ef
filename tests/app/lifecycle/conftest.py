"""Keys of every scope for the tests of deletions."""

from tests.app.auth.conftest import bearer, secrets

__all__ = ["bearer", "secrets"]
