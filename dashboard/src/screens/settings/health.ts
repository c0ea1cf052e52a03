/** What /readyz says, as a list of checks in the order of their weight. */

import type { Readiness } from "@rag-ingest/client";

/** A 503 has the same checks, without a status. */
export type Checks = Omit<Readiness, "status">;

export type Finding =
  | { check: "database"; isGood: boolean }
  | { check: "migrations"; isGood: boolean; pending: number }
  | { check: "workers"; isGood: boolean; count: number; silentSeconds: number | null; isUnattended: boolean }
  | { check: "paused"; isGood: false }
  | { check: "provider"; isGood: boolean; failure: Checks["provider"] }
  | { check: "disks"; isGood: boolean; low: readonly string[] }
  | { check: "listener"; isGood: boolean; problem: Checks["listenerProblem"] }
  | { check: "parsers"; isGood: boolean; missing: NonNullable<Checks["missingParsers"]> }
  | { check: "sandbox"; isGood: boolean; sandbox: NonNullable<Checks["sandbox"]> };

export function findingsOf(checks: Checks): Finding[] {
  const { database, pendingMigrations = 0 } = checks;
  const findings: Finding[] = [{ check: "database", isGood: database }];
  // Without the database, or on another schema, nothing else could be asked.
  if (!database) return [...findings, listenerOf(checks)];
  findings.push({ check: "migrations", isGood: pendingMigrations === 0, pending: pendingMigrations });
  if (pendingMigrations > 0) return [...findings, listenerOf(checks)];
  const { workers = null, workerSilentSeconds = null, jobsUnattended = false, lowDisks = [], missingParsers = [] } = checks;
  if (checks.paused) findings.push({ check: "paused", isGood: false });
  if (workers !== null) {
    findings.push({ check: "workers", isGood: workers > 0, count: workers, silentSeconds: workerSilentSeconds, isUnattended: jobsUnattended });
  }
  findings.push({ check: "provider", isGood: !checks.provider, failure: checks.provider });
  findings.push({ check: "disks", isGood: lowDisks.length === 0, low: lowDisks });
  findings.push(listenerOf(checks));
  findings.push({ check: "parsers", isGood: missingParsers.length === 0, missing: missingParsers });
  if (checks.sandbox) {
    const { landlock, seccomp } = checks.sandbox;
    findings.push({ check: "sandbox", isGood: landlock !== null && seccomp, sandbox: checks.sandbox });
  }
  return findings;
}

function listenerOf({ listener, listenerProblem }: Checks): Finding {
  return { check: "listener", isGood: listener, problem: listenerProblem };
}
