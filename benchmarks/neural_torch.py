"""A plain PyTorch training loop for comparison, on matrices of all pairs of each list, as in allRank."""

import itertools
import time
from typing import Any

import numpy as np

from benchmarks.loads import Load

SCHEMES = ("lambdarank", "ndcg-loss2++")
_SMALL = 1e-10  # lower bound of the ideal DCG, for queries without a relevant document
_MU = 10.0  # weight of the NDCG-Loss2 part of NDCG-Loss2++, in both tools


def pair_weights(torch: Any, scheme: str, gains: Any) -> Any:
    """Return pair weights by rank, (n_queries, n, n), from gains divided by the ideal DCG."""
    n = gains.shape[1]
    positions = torch.arange(1, n + 1, dtype=torch.float32)
    discounts = torch.log2(1.0 + positions)
    by_rank = torch.abs(1.0 / discounts[:, None] - 1.0 / discounts[None, :])
    by_gain = torch.abs(gains[:, :, None] - gains[:, None, :])
    if scheme == "lambdarank":
        return by_rank[None] * by_gain
    distance = torch.abs(positions[:, None] - positions[None, :]).long()
    of_distance = torch.abs(1.0 / torch.log2(1.0 + distance) - 1.0 / torch.log2(2.0 + distance))
    of_distance.fill_diagonal_(0.0)
    return (by_rank + _MU * of_distance)[None] * by_gain


def lambda_loss(torch: Any, scores: Any, labels: Any, scheme: str) -> Any:
    """Return the mean loss of lists without padding, (n_queries, n) scores and labels.

    As `allrank.models.losses.lambdaLoss` without a cutoff: Wang et al. 2018, in natural logarithms.
    """
    sorted_scores, order = scores.sort(descending=True, dim=-1)
    by_score = torch.gather(labels, 1, order)
    ideal = labels.sort(descending=True, dim=-1).values
    discounts = torch.log2(2.0 + torch.arange(scores.shape[1], dtype=torch.float32))
    largest = ((2.0**ideal - 1.0) / discounts).sum(-1).clamp(min=_SMALL)
    is_pair = by_score[:, :, None] > by_score[:, None, :]
    with torch.no_grad():
        weights = pair_weights(torch, scheme, (2.0**by_score - 1.0) / largest[:, None])
    differences = sorted_scores[:, :, None] - sorted_scores[:, None, :]
    log_shares = torch.nn.functional.logsigmoid(differences)
    return -(weights * log_shares)[is_pair].sum() / len(scores)


def epoch_seconds(
    load: Load, scheme: str, hidden: tuple[int, ...], batch: int, epochs: int, threads: int
) -> float:
    """Return the seconds of the fastest epoch of Adam on batches of whole queries.

    Raises:
        ImportError: PyTorch is not installed.
    """
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    features, labels = load.draw()
    shape = (load.n_queries, load.n_per_query)
    inputs = torch.from_numpy(features.reshape(*shape, -1))
    grades = torch.from_numpy(labels.reshape(shape))
    sizes = (load.n_features, *hidden)
    layers: list[Any] = []
    for n_inputs, n_outputs in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(n_inputs, n_outputs), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    queries = max(1, batch // load.n_per_query)
    taken = []
    for _ in range(epochs):
        started = time.perf_counter()
        for chosen in torch.randperm(load.n_queries).split(queries):
            optimizer.zero_grad()
            loss = lambda_loss(torch, network(inputs[chosen])[:, :, 0], grades[chosen], scheme)
            loss.backward()
            optimizer.step()
        taken.append(time.perf_counter() - started)
    return float(np.min(taken[1:]))
