"""Scoring: documents' features in, scores out."""

from core.scoring.forest import Forest

__all__ = ["Forest"]
