"""Queries and updates of rows, one file per table or group of tables.

Methods that take the id or name of a row raise `NotFound` if there is none.
"""
