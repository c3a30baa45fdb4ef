"""Asynchronous client, the source of the generated synchronous client."""
