"""Responses that show comparisons."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.datasets.schemas import DatasetName, ModelFindings
from app.evaluation.ranking_schemas import RankedDocument
from app.evaluation.schemas import CONTRACT_EXAMPLE, SUMMARY_EXAMPLE, MetricSummary, QuerySummary
from app.http.labels import ShownProject
from app.http.schemas import PageModel, ResponseModel, example, optional_text
from app.jobs.contract_schemas import NamedConventions
from core.evaluation.paired import Verdict
from core.store import Comparison as ComparisonRow


class ComparedSystem(ResponseModel):
    """A system in a comparison: a model or a ranking."""

    name: str = Field(examples=["web:3"])
    model_id: str | None
    ranking_id: str = Field(description="Stored ranking of the system")
    metrics: dict[str, MetricSummary]
    findings: ModelFindings = None


class MetricDifference(ResponseModel):
    """One metric of two systems, query by query; differences are B − A."""

    mean_a: float
    mean_b: float
    difference: float
    lower: float | None = Field(
        description="Lower end of the 95 % interval of the difference; null for one query"
    )
    upper: float | None = Field(description="Upper end of the interval")
    t_test_p: float | None = Field(
        description="Paired t-test, two-sided; null where all differences are equal"
    )
    randomisation_p: float = Field(description="Fisher's randomisation test, two-sided")
    adjusted_p: float = Field(
        description="`randomisation_p` after the `correction` of the comparison over all pairs and metrics"
    )
    verdict: Verdict = Field(
        description="Verdict on B compared with A, by `adjusted_p` at the significance level 0.05"
    )
    wins: int = Field(description="Queries on which B has the larger value")
    ties: int
    losses: int = Field(description="Queries on which A has the larger value")
    queries: int = Field(description="Queries that define the metric for both")
    skipped: int
    effect_size: float | None = Field(
        description="Mean difference divided by the standard deviation of the differences"
    )
    queries_needed: int | None = Field(
        description="Number of queries to detect a difference of this size with 80 % power; null without a"
        " difference"
    )


class ChangedQuery(ResponseModel):
    """A query on which two systems differ, by the first metric."""

    query_id: str
    query_text: str | None = optional_text("Text that the user searched for", "red shoes")
    a: float
    b: float
    difference: float


class Pair(ResponseModel):
    """System B against system A, both by index in `systems`."""

    a: int
    b: int
    sentence: str = Field(description="Conclusion about the pair")
    verdict: Verdict = Field(description="Verdict on B compared with A by the first metric")
    metrics: dict[str, MetricDifference | None] = Field(
        description="Differences by metric; null if no query defines the metric for both"
    )
    most_improved: list[ChangedQuery] = Field(description="Queries with the largest improvement first")
    most_harmed: list[ChangedQuery] = Field(description="Queries with the largest decrease first")


_SENTENCE = (
    "web:4 is better than web:3: ndcg@10 goes from 0.4512 to 0.4635, +0.0123"
    " (95% interval +0.0071 to +0.0175, p = 0.0003) over 6,099 queries."
)


class Comparison(ResponseModel):
    """Systems compared on the queries of one dataset."""

    model_config = example(
        {
            "id": "cmp_01k9x3b1d5f8g2h4j6k9",
            "job_id": "job_01k9x2z4q7c8v5n3b6r1",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r7",
            "sentence": _SENTENCE,
            "metrics": ["ndcg@10"],
            "contract": CONTRACT_EXAMPLE,
            "permutations": 100_000,
            "seed": 42,
            "systems": [
                {
                    "name": f"web:{version}",
                    "model_id": f"mdl_01k9x3a7d5f8g2h4j6k{version}",
                    "ranking_id": f"rnk_01k9x3a7d5f8g2h4j6k{version}",
                    "metrics": {"ndcg@10": SUMMARY_EXAMPLE},
                }
                for version in (3, 4)
            ],
            "pairs": [
                {
                    "a": 0,
                    "b": 1,
                    "sentence": _SENTENCE,
                    "verdict": "better",
                    "metrics": {
                        "ndcg@10": {
                            "mean_a": 0.4512,
                            "mean_b": 0.4635,
                            "difference": 0.0123,
                            "lower": 0.0071,
                            "upper": 0.0175,
                            "t_test_p": 0.00028,
                            "randomisation_p": 0.0003,
                            "adjusted_p": 0.0003,
                            "verdict": "better",
                            "wins": 2811,
                            "ties": 1040,
                            "losses": 2248,
                            "queries": 6099,
                            "skipped": 207,
                            "effect_size": 0.0465,
                            "queries_needed": 3627,
                        }
                    },
                    "most_improved": [{"query_id": "10032", "a": 0.2, "b": 0.9, "difference": 0.7}],
                    "most_harmed": [{"query_id": "10047", "a": 0.8, "b": 0.3, "difference": -0.5}],
                }
            ],
            "project": "web",
            "created_at": "2026-01-05T10:02:12Z",
        }
    )

    id: str
    job_id: str
    dataset_id: str
    sentence: str = Field(description="Conclusion about all systems")
    metrics: list[str] = Field(description="Names of the metrics; the first one decides")
    contract: NamedConventions
    permutations: int
    seed: int
    reference: int | None = Field(
        None,
        description="Index in `systems` of the baseline, which is A of all pairs; null if all pairs are"
        " compared",
    )
    correction: Literal["holm", "none"] = Field(
        "holm", description="Multiple-comparison correction of the p-values"
    )
    pool_folds: bool = Field(
        False, description="Whether each query was ranked by the fold model that was not trained on it"
    )
    systems: list[ComparedSystem]
    pairs: list[Pair]
    project: ShownProject
    created_at: datetime


class ComparisonEntry(ResponseModel):
    """A comparison in a list."""

    id: str
    job_id: str
    dataset_id: str
    dataset_name: DatasetName = None
    sentence: str
    systems: list[str] = Field(description="Names of the systems", examples=[["web:3", "web:4"]])
    verdict: Verdict | None = Field(
        None,
        description="Verdict on the second system compared with the first; null with more than two systems",
    )
    project: ShownProject
    created_at: datetime

    @classmethod
    def of(cls, row: ComparisonRow, dataset_name: str | None) -> "ComparisonEntry":
        """Return the entry of a stored comparison, with the name of its dataset."""
        computed = {
            "dataset_name": dataset_name,
            "systems": [system["name"] for system in row.systems],
            "verdict": row.pairs[0]["verdict"] if len(row.pairs) == 1 else None,
        }
        return cls.model_validate(row.column_values() | computed)


class ComparisonPage(PageModel):
    """A page of comparisons, in the requested order."""

    items: list[ComparisonEntry]


class ComparedQuery(ResponseModel):
    """One query with a value per system for each metric, null where the metric is undefined."""

    query_id: str = Field(examples=["10032"])
    query_text: str | None = optional_text("Text that the user searched for", "red shoes")
    values: dict[str, list[float | None]] = Field(examples=[{"ndcg@10": [0.2, 0.9]}])


class ComparedQueryPage(PageModel):
    """A page of queries, in the requested order."""

    items: list[ComparedQuery]
    summary: QuerySummary | None = Field(
        None, description="Summary of all selected queries; only on the first page"
    )


class Differences(ResponseModel):
    """The differences B − A of all queries, for a plot."""

    queries: int = Field(description="Queries that define the metric for both", examples=[6099])
    differences: list[float] = Field(
        description="Differences in ascending order; an even sample of 501 if there are more",
        examples=[[-0.5, 0.0, 0.7]],
    )


class SystemRanking(ResponseModel):
    """The top of one system's ranking of a query."""

    name: str
    values: dict[str, float | None] = Field(description="The query's metrics")
    documents: int = Field(description="Documents that the system ranks for the query")
    ranking: list[RankedDocument]


class QueryRankings(ResponseModel):
    """One query as every system ranks it."""

    query_id: str
    query_text: str | None = optional_text("Text that the user searched for", "red shoes")
    systems: list[SystemRanking]
