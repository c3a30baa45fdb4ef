"""Rows in the trash: dependency graph, holders that prevent a deletion, and expired objects."""
