"""Streams of events need a real server: the test client gives no answer before its end."""

from tests.app.http.conftest import server

__all__ = ["server"]
