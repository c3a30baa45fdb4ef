"""Queries and updates of rows, one file per table or group of tables."""
