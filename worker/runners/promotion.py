"""Run promotion jobs."""

from dataclasses import asdict

from core.errors import FeaturesAbsent
from core.evaluation import GateDecision, baseline_findings, decide, measure, slices
from core.jobs.promote import PromoteJob
from core.metrics import parse_metric
from core.store import Promotion
from worker.job.reporter import Values
from worker.job.results import measure_baselines
from worker.job.run import JobRun
from worker.job.systems import rank_by
from worker.job.training_data import load_judged


def run_promotion(run: JobRun, spec: PromoteJob) -> None:
    """Compare the challenger with the current version and move the alias if the gate passes.

    The transaction that ends the job moves the alias or records the refusal.

    Raises:
        InvalidInput: The metric cannot use the labels.
        DatasetError: The dataset has no features.
        WrongState: The alias was moved meanwhile.
    """
    try:
        decision, findings = _decide(run, spec)
    except FeaturesAbsent as absent:
        decision, findings = GateDecision(False, absent.problems[0].detail, None, []), []
    stored = spec.to_json()
    request = {name: stored[name] for name in ("rule", "dataset_id", "contract")}
    promotion = Promotion(
        name=spec.model_name,
        alias=spec.alias,
        champion_id=str(spec.champion.model_id),
        challenger_id=str(spec.challenger.model_id),
        job_id=run.id,
        key_id=run.key_id,
        report={**asdict(decision), **request, "findings": findings},
    )
    if decision.admitted:
        result = {"model_id": promotion.challenger_id, "sentence": decision.sentence}
        with run.succeeding(result) as tx:
            tx.aliases.promote(promotion)
    else:
        with run.refusing({"title": "Promotion refused", "detail": decision.sentence}) as tx:
            tx.aliases.refuse(promotion)


def _decide(run: JobRun, spec: PromoteJob) -> tuple[GateDecision, list[Values]]:
    rule, contract = spec.rule, spec.measures.contract
    champion, challenger = spec.champion, spec.challenger
    run.reporter.phase("loading")
    dataset = load_judged(run, spec.dataset_id, spec.measures)
    run.reporter.phase(f"scoring by {champion.name}")
    before = rank_by(run, spec, champion, dataset)
    run.reporter.phase(f"scoring by {challenger.name}")
    after = rank_by(run, spec, challenger, dataset)
    run.reporter.phase("comparing")
    of_champion, of_challenger = (
        measure(ranked.scores, ranked.judgments, [rule.metric], contract)[rule.metric]
        for ranked in (before, after)
    )
    higher_is_better = parse_metric(rule.metric, contract).higher_is_better
    beside = baseline_findings(
        challenger.name,
        rule.metric,
        of_challenger,
        [(baseline, values[rule.metric]) for baseline, values in measure_baselines(spec.measures, after)],
        higher_is_better=higher_is_better,
        significance=rule.p,
        permutations=spec.permutations,
        seed=spec.measures.seed,
        threads=run.threads,
    )
    decision = decide(
        rule,
        (champion.name, challenger.name),
        (of_champion, of_challenger),
        slices(dataset, dataset, contract.relevance_threshold, least_queries=1),
        beside_baselines=beside,
        higher_is_better=higher_is_better,
        permutations=spec.permutations,
        seed=spec.measures.seed,
        threads=run.threads,
    )
    findings = [asdict(finding) for finding in (*before.findings, *after.findings, *beside)]
    run.reporter.report(findings=findings or None)
    return decision, findings
