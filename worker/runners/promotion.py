"""Run promotion jobs."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import timedelta

from core.clicks.counterfactual import CounterfactualResult, admits_by_estimates
from core.errors import FeaturesAbsent, InvalidInput
from core.evaluation import (
    CounterfactualRule,
    GateDecision,
    baseline_findings,
    decide,
    measure,
    slices,
)
from core.interleaving.gate import Preference, admits, verdict_of_lists
from core.interleaving.verdict import PairVerdict
from core.jobs.promote import PromoteJob
from core.metrics import parse_metric
from core.store import Promotion
from core.store.clock import utc_now
from worker.job.reporter import Values
from worker.job.results import measure_baselines
from worker.job.run import JobRun
from worker.job.systems import estimate_systems, score_system
from worker.job.training_data import load_with_label_map


def run_promotion(run: JobRun, spec: PromoteJob) -> None:
    """Compare the challenger with the current version and move the alias if the gate passes.

    The transaction that ends the job moves the alias or records the refusal.

    Raises:
        InvalidInput: The metric cannot use the labels.
        DatasetError: The dataset has no features.
        WrongState: The alias was moved meanwhile.
    """
    findings: list[Values] = []
    estimates: CounterfactualResult | None = None
    try:
        decisions = []
        if spec.dataset_id is not None:
            decision, findings = _decide_by_judgments(run, spec, spec.dataset_id)
            decisions.append(decision)
        if spec.rule.counterfactual is not None:
            decision, estimates = _decide_by_estimates(run, spec, spec.rule.counterfactual)
            decisions.append(decision)
        if spec.rule.interleaving is not None:
            decisions.append(_decide_by_users(run, spec, spec.rule.interleaving))
        decision = _combine(decisions)
    except FeaturesAbsent as absent:
        decision = GateDecision(False, absent.problems[0].detail, None, [])
    stored = spec.to_json()
    request = {name: stored[name] for name in ("rule", "dataset_id", "contract")}
    promotion = Promotion(
        name=spec.model_name,
        alias=spec.alias,
        champion_id=str(spec.champion.model_id),
        challenger_id=str(spec.challenger.model_id),
        job_id=run.id,
        key_id=run.key_id,
        report={
            **asdict(decision),
            **request,
            "findings": findings,
            "counterfactual": None if estimates is None else asdict(estimates),
        },
    )
    if decision.admitted:
        result = {"model_id": promotion.challenger_id, "sentence": decision.sentence}
        with run.succeeding(result) as tx:
            tx.aliases.promote(promotion)
    else:
        with run.refusing({"title": "Promotion refused", "detail": decision.sentence}) as tx:
            tx.aliases.refuse(promotion)


def _combine(decisions: Sequence[GateDecision]) -> GateDecision:
    """Combine decisions: admit if all admit; the result has the numbers of the first decision."""
    admitted = all(decision.admitted for decision in decisions)
    sentence = "; ".join(decision.sentence for decision in decisions)
    return replace(decisions[0], admitted=admitted, sentence=sentence)


def _decide_by_estimates(
    run: JobRun, spec: PromoteJob, rule: CounterfactualRule
) -> tuple[GateDecision, CounterfactualResult | None]:
    """Decide by counterfactual estimates of both models."""
    try:
        result, _ = estimate_systems(run, spec, spec.systems, rule, spec.measures.seed)
    except InvalidInput as invalid:
        reason = (
            f"{rule.estimator} cannot estimate from clicks: {invalid.problems[0].detail}; change the gate"
        )
        return GateDecision(False, reason, None, []), None
    admitted, sentence = admits_by_estimates(rule.margin, spec.champion.name, spec.challenger.name, result)
    return GateDecision(admitted, sentence, None, []), result


def _decide_by_users(run: JobRun, spec: PromoteJob, require: Preference) -> GateDecision:
    """Decide by the clicks on the newest interleaving of both models."""
    run.reporter.phase("reading clicks")
    champion, challenger = spec.champion, spec.challenger
    names, pairs = (champion.name, challenger.name), list[PairVerdict]()
    with run.store.read() as tx:
        row = tx.interleavings.comparing(str(champion.model_id), str(challenger.model_id))
        if row is not None:
            until = utc_now() - timedelta(seconds=row.click_window_seconds)
            lists = tx.interleavings.credits(row.id, until)
    if row is not None:
        verdict = verdict_of_lists(row.method, row.rankers, lists, row.rule, row.unit, row.seed)  # type: ignore[arg-type]
        models, pairs = list(row.model_ids or ()), verdict.pairs
        names = (
            row.rankers[models.index(str(champion.model_id))],
            row.rankers[models.index(str(challenger.model_id))],
        )
    admitted, sentence = admits(require, *names, pairs)
    return GateDecision(admitted, sentence, None, [])


def _decide_by_judgments(run: JobRun, spec: PromoteJob, dataset_id: str) -> tuple[GateDecision, list[Values]]:
    rule, contract = spec.rule, spec.measures.contract
    metric = spec.measures.metrics[0]
    champion, challenger = spec.champion, spec.challenger
    run.reporter.phase("loading")
    dataset = load_with_label_map(run, dataset_id, spec.measures)
    run.reporter.phase(f"scoring by {champion.name}")
    before = score_system(run, spec, champion, dataset, measured_on=dataset_id)
    run.reporter.phase(f"scoring by {challenger.name}")
    after = score_system(run, spec, challenger, dataset, measured_on=dataset_id)
    run.reporter.phase("comparing")
    champion_values, challenger_values = (
        measure(ranked.scores, ranked.judgments, [metric], contract)[metric] for ranked in (before, after)
    )
    higher_is_better = parse_metric(metric, contract).higher_is_better
    against_baselines = baseline_findings(
        challenger.name,
        metric,
        challenger_values,
        [(baseline, values[metric]) for baseline, values in measure_baselines(spec.measures, after)],
        higher_is_better=higher_is_better,
        significance=rule.p,
        permutations=spec.permutations,
        seed=spec.measures.seed,
        threads=run.threads,
    )
    decision = decide(
        rule,
        (champion.name, challenger.name),
        (champion_values, challenger_values),
        slices(dataset, contract.relevance_threshold, min_queries=1),
        findings_against_baselines=against_baselines,
        higher_is_better=higher_is_better,
        permutations=spec.permutations,
        seed=spec.measures.seed,
        threads=run.threads,
    )
    findings = [asdict(finding) for finding in (*before.findings, *after.findings, *against_baselines)]
    run.reporter.report(findings=findings or None)
    return decision, findings
