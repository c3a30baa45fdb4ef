"""Calls that compile the kernels, or load them from numba's disk cache.

Each function imports what it calls: a process that compiles a part imports no other packages.
"""

from typing import Any

import numpy as np

_SCORES = np.array([0.3, 0.2, 0.1])
_LABELS = np.array([0.0, 2.0, 1.0], np.float32)  # float32, as in datasets
_BOUNDARIES = np.array([0, 3], np.int64)
_DIFFERENCES = np.random.default_rng(0).random((24, 1))
_LETOR = b"1 qid:1 1:0.5 # a b = 1\n0 qid:2 2:1e-3\n2 qid:1 1:3\n"


def json_features() -> None:
    """Read features out of JSON."""
    from core.json_values.features import FeatureReader, read_arrays

    FeatureReader("features", ["x"]).read(b'{"features": [1]}', 1)
    read_arrays(b'{"data": [1]}', "data")


def letor() -> None:
    """Read a tiny file of LETOR text and a tiny file of LightGBM text."""
    from core.data.letor import read_letor
    from core.data.lightgbm import read_lightgbm
    from core.data.options import ReadingOptions

    read_letor(np.frombuffer(_LETOR, np.uint8), "warm-up", ReadingOptions(repeated_features="reject"))
    read_lightgbm(np.frombuffer(b"1 1:0.5\n", np.uint8), "warm-up", np.array([1]))


def other_readers() -> None:
    """Run every other reader that has a separate kernel on a tiny file."""
    from core.data.tables.delimited import DelimitedTable
    from core.data.trec.qrels import read_qrels

    table = DelimitedTable(np.frombuffer(b"label,qid,x\n1,1,y\n", np.uint8), "warm-up", ",")
    table.lines([0])
    read_qrels(np.frombuffer(b"q 0 d 1\n", np.uint8), "warm-up")


def forest_requests() -> None:
    """Score documents of requests and of datasets, in float32 and float64."""
    from core.scoring.forest import Forest

    forest = Forest(_stump())
    forest.score(np.zeros((1, 1), np.float32))
    forest.score(np.zeros((1, 1)))


def forest_leaves() -> None:
    """Count the documents at the leaves of a forest."""
    from core.ranges import read_only
    from core.scoring.descent import count_arrivals
    from core.scoring.forest import flatten

    flat = flatten(_stump().trees)
    if flat is None:
        raise TypeError("a tree of one split must not be left to LightGBM")
    count_arrivals(read_only(np.zeros((1, 1), np.float32)), flat, np.zeros((1, len(flat.nodes)), np.int64))


def network_requests() -> None:
    """Score a document by a network and explain it; kinds of inputs and activations share the kernels."""
    from core.scorers import InputTransform, Layer, Network
    from core.scorers.gradients import IntegratedGradients

    features = np.zeros((1, 1), np.float32)
    inputs = InputTransform.fit(features, kind="standard", log1p=False, missing_indicators=False)
    one = np.ones(1, np.float32)
    layers = (Layer(np.ones((1, 1), np.float32), one, one, one), Layer(np.ones((1, 1), np.float32), one))
    network = Network(("feature",), inputs, layers)
    network.score(features)
    IntegratedGradients(network).explain(features)


def loss_layout() -> None:
    """Compile the layout of a query of a pairwise loss."""
    from core.kernel_compiler import compile_for_kernels
    from core.losses.layout import lay_out

    compile_for_kernels(lay_out, 0, _pairwise_plan(), _SCORES, np.uint64(0), _scratch())


def loss_pairs() -> None:
    """Compile the loops over the pairs of a query."""
    from core.kernel_compiler import compile_for_kernels
    from core.losses.pairwise import visit_pairs

    compile_for_kernels(visit_pairs, 0, _pairwise_plan(), 0, 0, _scratch(), True, False)


def pairwise_losses() -> None:
    """Call each pairwise loss on a tiny query."""
    _call_losses(pairwise=True)


def other_losses() -> None:
    """Call each loss that is not pairwise on a tiny query."""
    _call_losses(pairwise=False)


def long_queries() -> None:
    """Sum the pairs of a tiny query by the kernels for long queries, without and with the loss."""
    from core.losses.smooth_pairs import LongQueries

    plan = _pairwise_plan()
    gradient, hessian = (np.empty(len(_LABELS), np.float32) for _ in range(2))
    for value in (np.empty(0), np.empty(1)):
        LongQueries(plan).fill(np.zeros(1, np.int64), _SCORES, gradient, hessian, value)


def diagnostics() -> None:
    """Diagnose one loss on a tiny query."""
    from core.diagnostics.diagnosis import diagnose
    from core.losses import make_loss

    diagnose(make_loss("lambdarank"), _SCORES, _LABELS, _BOUNDARIES, cutoff=1)


def ranked_labels() -> None:
    """Rank labels, as all metrics do."""
    from core.metrics.ranked import ideal_labels

    ideal_labels(_LABELS, _BOUNDARIES)


def binary_metrics() -> None:
    """Compute each metric of `core.metrics.binary` on a tiny query."""
    _measure(binary=True)


def other_metrics() -> None:
    """Compute each metric outside `core.metrics.binary` on a tiny query."""
    _measure(binary=False)


def randomisation() -> None:
    """Test more differences than are enumerated exactly, to run the sampling kernel."""
    from core.evaluation.randomisation import randomisation_p_values

    randomisation_p_values(_DIFFERENCES, permutations=1)


def bootstrap() -> None:
    """Resample some values once."""
    from core.evaluation.bootstrap import bootstrap_intervals

    bootstrap_intervals(_DIFFERENCES, resamples=1)


def doctor_examination() -> None:
    """Examine a tiny dataset."""
    from core.doctor.examination import examine

    examine(_dataset())


def doctor_comparison() -> None:
    """Compare a tiny dataset with itself."""
    from core.doctor.agreement import compare

    compare(_dataset(), _dataset(), "test")


def training_draws() -> None:
    """Sample queries, and round gradients at random."""
    from core.training.derivatives import rounded_at_random
    from core.training.sampling import drawn_queries

    drawn_queries(0.5, 2, 0, 0)
    rounded_at_random(np.ones(2, np.float32), 2, np.uint64(0))


def linear_descent() -> None:
    """Make a step of the training of a linear scorer."""
    from core.scorers import Linear
    from core.training.networks.linear import LinearDescent

    layer = {"weights": np.ones((2, 1)), "bias": np.zeros(1)}
    descent = LinearDescent(Linear(), [layer], [layer])
    inputs = np.ones((3, 2), np.float32)
    descent.step(inputs, 3, lambda scores: (0.0, scores.astype(np.float32)), 0.1, 1)


def shuffles() -> None:
    """Shuffle feature values and row numbers, as inspections do."""
    from core.inspection.permutation import shuffle

    for kind in (np.float32, np.int64):
        shuffle(np.zeros(1, kind), np.array([0, 1]), np.uint64(0), 0)


def export_parity() -> None:
    """Export and compare a minimal forest and a minimal linear scorer."""
    from core.data import synthetic_dataset
    from core.export import export_model, parity
    from core.scorers import InputTransform, Layer, Network, write_network

    dataset = synthetic_dataset(1, seed=0)
    names = tuple(f"f{number}" for number in range(dataset.n_features))
    parity(export_model(_stump(names).write(), "ranklib"), dataset)
    inputs = InputTransform.fit(dataset.features[:0], kind="none", log1p=False, missing_indicators=False)
    layer = Layer(np.ones((len(names), 1), np.float32), np.ones(1, np.float32))
    network = write_network(Network(names, inputs, (layer,)))
    for name in ("c", "solr"):  # `c` adds in float64, `solr` in float32
        parity(export_model(network, name), dataset)


def click_models() -> None:
    """Estimate one click model of each family on two lists, and evaluate it."""
    from core.clicks import ClickLog
    from core.clicks.models import ClickModelSpec, evaluate_click_model, fit_click_model
    from core.data.texts import Texts

    log = ClickLog(
        list_boundaries=np.array([0, 2, 4]),
        list_queries=np.zeros(2, np.int32),
        pairs=np.array([0, 1, 1, 0], np.int32),
        ranks=np.array([1, 2, 1, 2], np.int16),
        clicks=np.array([True, False, False, True]),
        pair_queries=np.zeros(2, np.int32),
        pair_documents=np.arange(2, dtype=np.int32),
        query_ids=Texts.of(["query"]),
        document_ids=Texts.of(["a", "b"]),
    )
    for name in ("pbm", "dbn"):
        spec = ClickModelSpec(model=name, iterations=1, resamples=0)
        evaluate_click_model(fit_click_model(log, spec), log)


def _stump(names: tuple[str, ...] = ("feature",)) -> Any:
    """Return a forest of one tree of one split."""
    from core.scoring.model_text import ModelText
    from core.scoring.tree import Tree

    split, zero, leaves = np.zeros(1, np.int64), np.zeros(1), (np.array([-1]), np.array([-2]))
    tree = Tree(split, zero, split, *leaves, np.array([0.0, 1.0]), zero, split, np.zeros(2, np.int64))
    return ModelText(names, (tree,))


def _dataset() -> Any:
    from core.data import RankingDataset

    return RankingDataset.from_arrays(np.eye(3), [0, 1, 2], [0, 3])


def _pairwise_plan() -> Any:
    from core.losses import make_loss
    from core.losses.pairwise import PairwiseObjective

    objective = make_loss("lambdarank").prepare(_LABELS, _BOUNDARIES)
    if not isinstance(objective, PairwiseObjective):
        raise TypeError("lambdarank is not a pairwise loss")
    return objective.plan


def _scratch() -> Any:
    from core.kernel_compiler import compile_for_kernels
    from core.losses.layout import make_scratch

    return compile_for_kernels(make_scratch, 0, 1)


def _call_losses(*, pairwise: bool) -> None:
    from core.losses import LOSSES, make_loss
    from core.losses.pairwise import PairwiseObjective

    for name in LOSSES:
        objective = make_loss(name).prepare(_LABELS, _BOUNDARIES)
        if isinstance(objective, PairwiseObjective) == pairwise:
            objective(_SCORES, 0)
            objective.with_value(_SCORES, 0)
            objective.terms(_SCORES, 0)


def _measure(*, binary: bool) -> None:
    from core.metrics import METRICS, parse_metric

    for name, metric in METRICS.items():
        if (metric.__module__ == "core.metrics.binary") == binary:
            for ties in ("stable", "average"):
                parse_metric(name, {"ties": ties})(_SCORES, _LABELS, _BOUNDARIES)
