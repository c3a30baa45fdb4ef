"""Training of linear scorers and networks with any loss, by JAX or, in float64, by NumPy."""

from core.training.networks.checkpoint import NetworkCheckpoint
from core.training.networks.training import train_network
