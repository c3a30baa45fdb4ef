"""Streams of events need a real server: the test client returns only complete responses."""

from tests.app.http.conftest import server

__all__ = ["server"]
