"""Measured comparisons: commands for `make bench-…`, and the modules that they share."""
