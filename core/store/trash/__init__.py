"""Rows in the trash: what is deleted together, what holds it, and what has expired."""
