/** Tokens of today beside their budget, and the quotas. */

import type { OverviewView } from "@rag-ingest/client";
import { Meter } from "../../components/status.tsx";
import { Time } from "../../components/text.tsx";
import { bytes, duration, number } from "../../messages/format.ts";
import { overview } from "./messages.ts";
import { QUOTAS, type Quota } from "./notices.ts";

export function Use({ usage }: { usage: OverviewView["usage"] }) {
  const { used, usedThisMonth, perDay, renewsAt } = usage.tokens;
  return (
    <dl class="use">
      <div>
        <dt>{overview().tokensToday}</dt>
        <dd>{perDay === null
          ? <>{number(used)} <small>{overview().noBudget}</small></>
          : <><Share label={overview().tokensToday} used={used} limit={perDay} text={overview().of(number(used), number(perDay))} /> <small>{overview().renews} <Time value={renewsAt} /></small></>}
        </dd>
      </div>
      <div>
        <dt>{overview().tokensThisMonth}</dt>
        <dd>{number(usedThisMonth)}</dd>
      </div>
      {QUOTAS.map((quota) => {
        const { used, limit } = usage[quota];
        return (
          <div key={quota}>
            <dt>{overview().quotas[quota]}</dt>
            <dd><Share label={overview().quotas[quota]} used={used} limit={limit} text={overview().of(written(used, quota), written(limit, quota))} /></dd>
          </div>
        );
      })}
      <div>
        <dt>{overview().cpuToday}</dt>
        <dd>{duration(usage.cpuSeconds * 1000)}</dd>
      </div>
    </dl>
  );
}

function Share({ label, used, limit, text }: { label: string; used: number; limit: number; text: string }) {
  return <><Meter value={used} max={Math.max(1, limit)} label={`${label}: ${text}`} /><span>{text}</span></>;
}

function written(value: number, quota: Quota): string {
  return quota.endsWith("Bytes") ? bytes(value) : number(value);
}
