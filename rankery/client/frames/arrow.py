"""Import pyarrow, which only frames and arrays need.

Import it inside functions: without pyarrow, the import of this module raises `PackageMissing`.
"""

from rankery.errors import PackageMissing

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError as missing:
    raise PackageMissing(f"{missing.name} is not installed: pip install 'rankery[arrow]'") from missing

__all__ = ["np", "pa", "pc", "pq"]
