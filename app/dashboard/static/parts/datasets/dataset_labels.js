/**
 * What is said about a dataset in a few words.
 * @module
 */
import { counted, short, size } from "../page/format.js";

export const PARTS = ["train", "validation", "test"];
const FORMATS = { letor: "LETOR text", lightgbm: "LightGBM data", csv: "delimited table", parquet: "Parquet" };

/** "train.txt.gz, 1.2 GB, LETOR text". */
export function sourceWords({ source: from, size_bytes: bytes }) {
  if (from?.kind === "synthetic") return `synthetic, seed ${from.seed}, polynomials ${from.polynomial_seed}`;
  return [from?.filename, bytes && size(bytes), FORMATS[from?.format]].filter(Boolean).join(", ") || "upload";
}

/** "0 – 4", or the one number there is. */
export function rangeWords(minimum, maximum) {
  if (minimum === null || minimum === undefined) return "none";
  return minimum === maximum ? short(minimum) : `${short(minimum)} – ${short(maximum)}`;
}

/** How many findings there are of each severity, the gravest first; those there are none of left out. */
export function severities(findings) {
  return ["error", "warning", "info"]
    .map((severity) => [severity, findings.filter((finding) => finding.severity === severity).length])
    .filter(([, number]) => number > 0);
}

/** "2 warnings". */
export function severityWords(severity, number) {
  return severity === "info" ? counted(number, "note") : counted(number, severity);
}
