"""Diagnostics of the papers: what a loss's gradients do to a ranking."""

from core.diagnostics.coherency import incoherent_queries

__all__ = ["incoherent_queries"]
