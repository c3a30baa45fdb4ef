"""Types shared by all of core."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
FloatArray = npt.NDArray[np.floating]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]
UInt16Array = npt.NDArray[np.uint16]
UInt32Array = npt.NDArray[np.uint32]
UInt64Array = npt.NDArray[np.uint64]
Precision = Literal["float32", "float64"]
# Called with the work done so far and the total.
OnProgress = Callable[[int, int], None]
OnPhaseProgress = Callable[[str, int, int], None]  # phase, number done and total
