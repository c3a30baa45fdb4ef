"""Served rankings: write them in the background, hash users, and record events."""
