"""Evaluations, comparisons, rankings, and the catalogue of losses and metrics."""
