"""Migrations of the schema, one file each."""
