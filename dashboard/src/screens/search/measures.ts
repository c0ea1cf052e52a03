/** The measures of an evaluation: their names, and what a difference says. */

import type { EvaluationView, Mean } from "@rag-ingest/client";

/** By what runs are compared. */
export const MAIN = "ndcg@10";

/** As shown: they are names, the same in every language. */
const NAMES: Record<string, string> = { "ndcg@10": "nDCG@10", mrr: "MRR" };

export function nameOf(measure: string): string {
  return NAMES[measure] ?? measure;
}

/** The main one first, then recall at growing depths. */
export function measuresOf({ runs }: EvaluationView): string[] {
  const order = (name: string) => (name === MAIN ? -1 : name.startsWith("recall@") ? Number(name.slice(7)) : 1000);
  return Object.keys(runs[0]?.measures ?? {}).sort((a, b) => order(a) - order(b));
}

export type Verdict = "better" | "worse" | "unsure";

/** Whether chance explains a difference: then 0 is within its interval. */
export function verdictOf({ low, high }: Mean): Verdict {
  if (low > 0) return "better";
  return high < 0 ? "worse" : "unsure";
}

export interface Row {
  query: string;
  filter: Readonly<Record<string, unknown>> | null;
  /** The main measure of each run. */
  values: readonly number[];
  /** Of the second run from the first; null: there is one run. */
  change: number | null;
}

/** The questions, those that lost most first; of one run, those that it answers worst. */
export function rowsOf({ questions }: EvaluationView): Row[] {
  return questions
    .map(({ query, filter, measures }): Row => {
      const values = measures.map((one) => one[MAIN] ?? 0);
      return { query, filter, values, change: values.length > 1 ? values[1]! - values[0]! : null };
    })
    .sort((a, b) => (a.change ?? a.values[0]!) - (b.change ?? b.values[0]!) || a.values[0]! - b.values[0]!);
}
