/** /readyz in words. */

import { ApiError } from "@rag-ingest/client";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card } from "../../components/layout.tsx";
import { Detail, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Time } from "../../components/text.tsx";
import { useResource } from "../../live/resource.ts";
import { errorText } from "../../messages/errors.ts";
import { duration } from "../../messages/format.ts";
import { findingsOf, type Checks, type Finding } from "./health.ts";
import { settings } from "./messages.ts";

const EVERY = 15_000;

interface Answer {
  status: "ready" | "degraded" | "notReady";
  checks: Checks;
}

export function Health() {
  const { data, error, refresh } = useResource(ask, [], { every: EVERY });
  if (data === undefined) return error === undefined ? <Skeleton /> : <ErrorCard error={error} onRetry={refresh} />;
  const findings = findingsOf(data.checks);
  const bad = findings.filter(({ isGood }) => !isGood).length;
  return (
    <Card title={settings().health} actions={<Button icon="retry" onClick={refresh}>{settings().checkAgain}</Button>}>
      {error !== undefined ? <ErrorCard error={error} onRetry={refresh} /> : (
        <>
          <p role="status"><strong>{data.status === "ready" && bad > 0 ? settings().readyBut(bad) : settings()[data.status]}</strong></p>
          <ul class="findings">
            {findings.map((finding) => (
              <li key={finding.check} class={finding.isGood ? "good" : "bad"}>
                <Icon name={finding.isGood ? "check" : "warning"} />
                <div>
                  <span class="visually-hidden">{finding.isGood ? settings().good : settings().bad}: </span>
                  <Said finding={finding} />
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

/** A service that is not ready answers 503 with the checks that it could make. */
async function ask(signal: AbortSignal): Promise<Answer> {
  try {
    const { status, ...checks } = await api.get("/readyz", { signal });
    return { status, checks };
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_ready") return { status: "notReady", checks: error.problem.checks as Checks };
    throw error;
  }
}

function Said({ finding }: { finding: Finding }) {
  switch (finding.check) {
    case "database":
    case "migrations":
    case "paused":
      return <>{settings().checks[finding.check][finding.isGood ? 0 : 1]}</>;
    case "workers":
      if (finding.isGood) return <>{settings().workers(finding.count)}</>;
      return <>{settings().noWorker(finding.silentSeconds === null ? undefined : duration(finding.silentSeconds * 1000))} {finding.isUnattended && settings().unattended}</>;
    case "provider": {
      const [good, bad] = settings().checks.provider;
      if (!finding.failure) return <>{good}</>;
      const { code, message, since } = finding.failure;
      return (
        <>
          {bad} {errorText(code).means} <code>{code}</code> <small>{settings().since} <Time value={since} /></small>
          <Detail text={message} />
        </>
      );
    }
    case "disks": {
      const [good, bad] = settings().checks.disks;
      if (finding.isGood) return <>{good}</>;
      return <>{finding.low.map((disk) => <p key={disk}>{settings().disks[disk] ?? disk} {bad}</p>)}</>;
    }
    case "listener":
      return <>{finding.isGood ? settings().listener : settings().listenerProblems[finding.problem ?? "not_connected"]}</>;
    case "parsers": {
      if (finding.isGood) return <>{settings().parsers}</>;
      const list = (items: readonly string[]): string => [...new Set(items)].join(", ");
      return <>{settings().missingParsers(list(finding.missing.map(({ module }) => module)), list(finding.missing.flatMap(({ formats }) => formats)))}</>;
    }
    case "sandbox": {
      const { landlock, landlockProblem, seccomp } = finding.sandbox;
      if (landlock !== null && seccomp) return <>{settings().sandbox(landlock)}</>;
      const missing = [landlock === null && `Landlock${landlockProblem ? ` (${landlockProblem})` : ""}`, !seccomp && "seccomp"];
      return <>{settings().weakSandbox(missing.filter(Boolean).join(", "))}</>;
    }
  }
}
