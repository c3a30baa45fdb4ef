"""Compile, or load from numba's disk cache, every kernel that a job may need."""

from core.data.warm_up import warm_up as warm_up_readers
from core.diagnostics.warm_up import warm_up as warm_up_diagnostics
from core.doctor import warm_up as warm_up_doctor
from core.evaluation.warm_up import warm_up as warm_up_evaluation
from core.export.warm_up import warm_up as warm_up_export
from core.inspection.warm_up import warm_up as warm_up_inspection
from core.json_values.warm_up import warm_up as warm_up_json_values
from core.scoring.warm_up import warm_up as warm_up_scoring
from core.training import warm_up as warm_up_training


def warm_up() -> None:
    """Do all the parts once on tiny data.

    Run once before worker processes start, so that they do not write the cache at the same time, and in
    each of them, so that no job waits for compilation.
    """
    warm_up_readers()
    warm_up_json_values()
    warm_up_doctor()
    warm_up_training()
    warm_up_scoring(datasets=True)
    warm_up_evaluation()
    warm_up_inspection()
    warm_up_diagnostics()
    warm_up_export()
