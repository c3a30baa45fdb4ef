"""Moving an alias through its gate."""

from core.errors import FeaturesAbsent
from core.evaluation import GateDecision, GateRule, decide, measure, slices
from core.metrics import conventions, parse_metric
from core.store import Promotion, System
from worker.jobs import JobRun, Values
from worker.labels import load_judged
from worker.systems import rank_by, system_of


def run_promotion(run: JobRun) -> None:
    """Compare the version that an alias is to point at with the one that it points at, and move it or not.

    The alias moves, or the refusal is on record, exactly when the job ends.

    Raises:
        InvalidInput: The metric cannot use the labels.
        DatasetError: The dataset has no features.
        WrongState: The alias was moved meanwhile.
    """
    spec = run.spec
    champion, challenger = (system_of(system) for system in spec["systems"])
    try:
        decision, findings = _decide(run, champion, challenger)
    except FeaturesAbsent as absent:
        decision, findings = GateDecision(False, absent.problems[0].detail, None, []), []
    told = {name: spec[name] for name in ("rule", "dataset_id", "contract")}
    promotion = Promotion(
        name=spec["model_name"],
        alias=spec["alias"],
        champion_id=str(champion.model_id),
        challenger_id=str(challenger.model_id),
        job_id=run.id,
        key_id=run.key_id,
        report={**decision.as_json(), **told, "findings": findings},
    )
    if decision.admitted:
        result = {"model_id": promotion.challenger_id, "sentence": decision.sentence}
        with run.succeeding(result) as tx:
            tx.aliases.promote(promotion)
    else:
        with run.failing({"title": "Promotion refused", "detail": decision.sentence}) as tx:
            tx.aliases.refuse(promotion)


def _decide(run: JobRun, champion: System, challenger: System) -> tuple[GateDecision, list[Values]]:
    spec = run.spec
    rule, contract = GateRule(**spec["rule"]), conventions(spec["contract"])
    run.phase("loading")
    dataset = load_judged(run, spec["dataset_id"])
    run.phase(f"scoring by {champion.name}")
    before = rank_by(run, champion, dataset)
    run.phase(f"scoring by {challenger.name}")
    after = rank_by(run, challenger, dataset)
    findings = [found for ranked in (before, after) for found in ranked.findings_json or ()]
    run.report(findings=findings or None)
    run.phase("comparing")
    measured = (
        measure(ranked.scores, ranked.judgments, [rule.metric], contract)[rule.metric]
        for ranked in (before, after)
    )
    decision = decide(
        rule,
        (champion.name, challenger.name),
        (next(measured), next(measured)),
        slices(dataset, dataset, contract.relevance_threshold),
        higher_is_better=parse_metric(rule.metric, contract).higher_is_better,
        permutations=spec["permutations"],
        seed=spec["seed"],
        threads=run.threads,
    )
    return decision, findings
