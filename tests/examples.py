"""Number of examples that Hypothesis draws: all if slow tests run, else a quarter."""

from hypothesis import settings

# Hypothesis' own default.
ALL = 100
SOME = 25

settings.register_profile("some", deadline=None, max_examples=SOME)
settings.register_profile("all", deadline=None, max_examples=ALL)


def load_profile(*, thorough: bool) -> None:
    """Choose the number of examples before test modules are imported."""
    # No deadline: a busy machine must not fail a test, and benchmarks measure speed.
    settings.load_profile("all" if thorough else "some")


def examples(most: int) -> int:
    """Return the number of examples of a test that draws `most` if slow tests run."""
    return most * settings().max_examples // ALL
