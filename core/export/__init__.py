"""Exports: a stored model in the form other engines read."""

from core.export.formats import EXPORTS, Export, export_lightgbm, export_model

__all__ = ["EXPORTS", "Export", "export_lightgbm", "export_model"]
