"""What a user should know of a training, apart from its data."""

from collections.abc import Iterator

from core.doctor.report import Finding
from core.training.spec import TrainingSpec


def seed_findings(spec: TrainingSpec, *, parts_are_random: bool) -> Iterator[Finding]:
    """Report a seed that decides nothing.

    Args:
        spec: The training.
        parts_are_random: Whether queries are drawn for validation or test.

    Example:
        >>> from core.training import training_spec
        >>> [finding] = seed_findings(training_spec({"loss": {"name": "mse"}}), parts_are_random=False)
        >>> finding.code
        'seed-without-effect'
    """
    if spec.is_random or parts_are_random:
        return
    yield Finding(
        code="seed-without-effect",
        severity="info",
        title=f"The seed, {spec.seed}, changes nothing: every seed gives the same trees",
        advice="The loss draws nothing, all documents and features are used for each tree, and no queries are"
        " drawn for validation or test. To see how far chance moves a metric, set bagging_fraction with"
        " bagging_freq, set feature_fraction, or hold out by a fraction or folds.",
        count=0,
        total=0,
        unit="random choices",
    )
