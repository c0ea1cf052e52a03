/** How many there are of each state: a click filters by it. */

import type { StatusCount } from "@rag-ingest/client";
import { href, place } from "../../app/router.ts";
import { components } from "../../components/messages.ts";
import { boundedCount } from "../../messages/format.ts";

export function StateCounts({ items, active, label }: { items: readonly StatusCount[]; active: string | undefined; label: string }) {
  const { path, query } = place.value;
  const others = Object.fromEntries([...query].filter(([name]) => !["status", "cursor", "app"].includes(name)));
  const some = items.filter(({ count, isExact, status }) => count > 0 || !isExact || status === active);
  if (!some.length) return null;
  return (
    <nav class="state-counts" aria-label={label}>
      {some.map(({ status, count, isExact }) => (
        <a key={status} class={`state-count ${status}`} aria-current={status === active ? "true" : undefined}
          href={href(path, { ...others, status: status === active ? undefined : status })}>
          <strong>{boundedCount(count, !isExact)}</strong> {components().status[status] ?? status}
        </a>
      ))}
    </nav>
  );
}
