"""Interleavings: lists that rankers share, the clicks on them, and verdicts."""
