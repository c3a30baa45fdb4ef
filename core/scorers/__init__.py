"""Scorers: trees, linear scorers, networks and sums of models, with one interface."""

from core.scorers.inputs import InputTransform
from core.scorers.model import ScoringModel, TreeModel, categories_by_name
from core.scorers.network import Network
from core.scorers.network_file import is_safetensors, read_network, write_network
from core.scorers.packing import Layer
from core.scorers.parameters import (
    ACTIVATIONS,
    SCORERS,
    Linear,
    Mlp,
    NetworkScorer,
    Scorer,
    Trees,
    WeightedSum,
    make_scorer,
    scorer_values,
)
from core.scorers.reading import read_model, with_line_feeds
from core.scorers.sum import Member, Sum, write_sum
