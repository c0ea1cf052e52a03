/** Waiting jobs by reason, and failures by code: each row leads to its jobs. */

import type { OverviewView } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { LinkButton } from "../../components/button.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { errorText } from "../../messages/errors.ts";
import { boundedCount } from "../../messages/format.ts";
import { waitOf } from "../jobs/words.ts";
import { overview } from "./messages.ts";

export function Reasons({ waiting }: { waiting: OverviewView["waiting"] }) {
  if (!waiting.length) return <p class="hint">{overview().noWaiting}</p>;
  return (
    <DataTable caption={overview().reasonCaption} rows={waiting} keyOf={({ reason }) => reason}
      columns={[
        { key: "reason", title: overview().reasonColumn, isMain: true, cell: ({ reason }) => <bdi dir="auto">{waitOf(reason)}</bdi> },
        { key: "count", title: overview().count, isNumber: true, cell: ({ count, isMore }) => boundedCount(count, isMore) },
      ]} />
  );
}

export function Failures({ failures }: { failures: OverviewView["failures"] }) {
  if (!failures.length) return <p class="hint">{overview().noFailures}</p>;
  return (
    <>
      <DataTable caption={overview().failures} rows={failures} keyOf={({ code }) => code} hrefOf={({ code }) => href("/jobs", { status: "failed", errorCode: code })}
        columns={[
          { key: "code", title: overview().failureColumn, isMain: true, cell: ({ code }) => <><span class="name">{errorText(code).means}</span><small><code>{code}</code></small></> },
          { key: "count", title: overview().count, isNumber: true, cell: ({ count, isMore }) => boundedCount(count, isMore) },
        ]} />
      <div class="actions"><LinkButton kind="quiet" href={href("/jobs", { status: "failed" })}>{overview().allFailed}</LinkButton></div>
    </>
  );
}
