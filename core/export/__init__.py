"""Exports of stored models to the formats of other engines, with parity reports."""

from core.export.archive import archive
from core.export.formats import FORMAT_NAMES, FORMATS, TREE_FORMATS, export_model, target_of
from core.export.golden import golden_vectors
from core.export.options import ExportOptions
from core.export.parity import parity
from core.export.parity_report import ParityReport
from core.export.target import Export
from core.export.tree_target import TreeExport
