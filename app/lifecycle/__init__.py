"""Deletion over HTTP: single objects, bulk deletion by filter, the trash, and storage usage."""
