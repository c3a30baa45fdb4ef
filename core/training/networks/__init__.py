"""Training of linear scorers and networks: JAX carries the gradient of any loss through the scorer."""

from core.training.networks.checkpoint import NetworkCheckpoint
from core.training.networks.training import TrainedNetwork, train_network

__all__ = ["NetworkCheckpoint", "TrainedNetwork", "train_network"]
