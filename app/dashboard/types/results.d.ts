/** Results of jobs on clicks, and reports of experiments, which the OpenAPI document types as any JSON. */

/** Statistics of a click log. Those of a simulated log lack the optional fields, which describe how the file was read. */
interface LogStatistics {
  lists: number;
  impressions: number;
  clicks: number;
  clicked_lists: number;
  queries: number;
  documents: number;
  pairs: number;
  users: number | null;
  versions: string[] | null;
  ctr: number;
  ranks: { rank: number; impressions: number; clicks: number }[];
  has_propensities: boolean;
  first_at: string | null;
  last_at: string | null;
  rank_base?: number;
  rank_base_detected?: boolean;
  actions?: Record<string, number>;
}

interface ClickModelResult {
  best: string;
  sentence: string;
  comparison: { models: ComparedModel[]; held_out_lists: number; unseen_share: number };
  click_model: FittedModel;
}

interface ComparedModel {
  model: string;
  label: string;
  log_likelihood: number;
  perplexity: number;
  conditional_perplexity: number;
  by_rank: { rank: number; perplexity: number; conditional_perplexity: number }[];
  difference?: { value: number; lower: number | null; upper: number | null };
}

interface FittedModel {
  model: string;
  label: string;
  parameters: Record<string, ParameterRow[]>;
  findings: string[];
}

interface ParameterRow {
  rank?: number;
  last_click?: number;
  value: number;
  lower?: number;
  upper?: number;
}

interface CounterfactualResult {
  metric: string;
  estimator: string;
  lists: number;
  clusters: number;
  systems: SystemEstimate[];
  differences: { first: string; second: string; value: number; better: string | null; sentence: string }[];
}

interface SystemEstimate {
  name: string;
  value: number;
  lower: number | null;
  upper: number | null;
  effective_sample_size: number;
  largest_weight: number;
  clipped: number;
  unsupported: number;
  missing: string | null;
}

interface JudgmentResult {
  dataset_id: string;
  judgments: { judged: number; left_out: number; cuts: number[]; by_grade: number[]; certain_share: number };
  click_model: FittedModel;
  agreement?: Agreement;
}

interface Agreement {
  pairs: number;
  kappa: number | null;
  weighted_kappa: number | null;
  queries: number;
  kendall_tau: number | null;
  kendall_lower: number | null;
  kendall_upper: number | null;
}

interface PropensityResult {
  method: string;
  propensities: number[];
  lower: number[] | null;
  upper: number[] | null;
  intercepts?: number[] | null;
  intercepts_lower?: number[] | null;
  intercepts_upper?: number[] | null;
  impressions: number[];
  pairs: number;
  units: string;
  failed_resamples: number;
  sentence: string;
}

interface ExperimentReport {
  complete: boolean;
  notes: string[];
  tables: ReportedTable[];
}

interface ReportedTable {
  name: string;
  caption: string;
  unit: string;
  rows: string[];
  columns: string[];
  protocol: string;
  test: string | null;
  cells: ReportedCell[];
  claims: { name: string; statement: string; source: string; verdict: string; sentence: string }[];
  deviations: string[];
}

interface ReportedCell {
  row: string;
  column: string;
  ours: number | null;
  lower: number | null;
  upper: number | null;
  queries: number | null;
  mark: string;
  p: number | null;
  printed: { value: number; mark: string; half_width: number | null } | null;
  difference: number | null;
  missing: string | null;
  /** Numbers of the table's deviations, from 1. */
  deviations: number[];
  trees: number[];
  curve: number[];
}

interface ExperimentEstimate {
  runs: number;
  trees: number;
  epochs: number;
  hours: number;
  sentence: string;
  measured: {
    method: string;
    loss: string;
    job_id: string | null;
    leaves: number | null;
    scorer: string;
    runs: number;
    seconds_per_tree: number | null;
    seconds_per_look: number | null;
    other_seconds: number | null;
    failure: string | null;
  }[];
}
