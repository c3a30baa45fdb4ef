"""Diagnostics of losses from papers: gradient coherency, bounds, symmetry of the Jacobian."""

from core.diagnostics.bounds import BOUNDS
from core.diagnostics.coherency import incoherent_queries, strictly_incoherent_queries
from core.diagnostics.diagnosis import diagnose
from core.diagnostics.ranked_query import RankedQuery
from core.diagnostics.registry import DIAGNOSTICS
