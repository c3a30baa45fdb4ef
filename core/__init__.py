"""Learning to rank without the web layer: data, losses, metrics, training, scoring, evaluation, storage."""
