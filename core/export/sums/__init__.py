"""Exports of sums of models: each member in its own format, and the weighted sum of their scores."""
