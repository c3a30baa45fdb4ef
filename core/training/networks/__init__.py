"""Training of linear scorers and networks: JAX backpropagates the gradient of any loss."""

from core.training.networks.checkpoint import NetworkCheckpoint
from core.training.networks.training import TrainedNetwork, train_network

__all__ = ["NetworkCheckpoint", "TrainedNetwork", "train_network"]
