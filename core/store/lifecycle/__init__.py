"""Deletion, retention and inventory of stored objects, and the bytes that they use."""
