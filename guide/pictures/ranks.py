"""Diagram of a distributed training: processes and the data between them."""

from guide.pictures.boxes import boxes_and_arrows
from guide.pictures.drawing import figure

_BOXES = (
    (20.0, 20.0, 200.0, 56.0, "database", "lease, checkpoints, result"),
    (280.0, 20.0, 240.0, 56.0, "driver, the job's worker", "assigns queries, decides, stores"),
    (580.0, 20.0, 160.0, 56.0, "artifacts", "features as Parquet"),
    (60.0, 190.0, 180.0, 56.0, "rank 0", "first queries, in bins"),
    (310.0, 190.0, 180.0, 56.0, "rank 1", "next queries, in bins"),
    (560.0, 190.0, 180.0, 56.0, "rank 2", "last queries, in bins"),
)
_ARROWS = (
    ("M280 48H226", 0.0, 0.0, ""),
    ("M330 76L160 184", 68.0, 130.0, "judgments, bins, “grow”"),
    ("M400 76V184", 408.0, 164.0, "metrics of each query"),
    ("M470 76L640 184", 0.0, 0.0, ""),
    ("M700 76V184", 708.0, 130.0, "read"),
    ("M240 218H304", 0.0, 0.0, ""),
    ("M310 218H246", 0.0, 0.0, ""),
    ("M490 218H554", 0.0, 0.0, ""),
    ("M560 218H496", 0.0, 0.0, ""),
    ("M150 246C180 300 620 300 650 252", 330.0, 308.0, "histograms, best splits"),
)


def ranks() -> str:
    """Draw the driver, its ranks and the files they read."""
    return figure(
        760,
        330,
        boxes_and_arrows(_BOXES, _ARROWS),
        "The driver reads and writes the database. It gives judgments and bins to each rank, asks for a tree"
        " and gets the metrics of each query. Ranks read features from the artifacts, and exchange histograms"
        " and best splits with each other.",
        "A training on three ranks. Ranks have no access to the database, only to features and to data from"
        " the driver.",
    )
