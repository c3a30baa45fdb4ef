"""Interleaved lists of several rankers, and the verdict on their clicks."""
