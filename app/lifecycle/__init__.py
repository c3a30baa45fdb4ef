"""Deletion over HTTP: single objects, many by a filter, the trash, and what is stored."""
