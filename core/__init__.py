"""Learning to rank without the web: data, losses, metrics, training, scoring, evaluation and storage."""
