"""Exports: a stored model in the form other engines read, with the proof that they say the same of it."""

from core.export.archive import archive
from core.export.formats import FORMATS, Export, export_model
from core.export.golden import golden_vectors
from core.export.options import ExportOptions
from core.export.parity import parity
from core.export.parity_report import ParityReport

__all__ = [
    "FORMATS",
    "Export",
    "ExportOptions",
    "ParityReport",
    "archive",
    "export_model",
    "golden_vectors",
    "parity",
]
