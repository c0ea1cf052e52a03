import { ShareBar } from "../../components/charts.tsx";
import { components } from "../../components/messages.ts";
import { number } from "../../messages/format.ts";
import { batches } from "./messages.ts";
import type { Share } from "./shares.ts";

/** A bar of the parts, and their numbers. */
export function ShareList({ shares }: { shares: readonly Share[] }) {
  const named = shares.map((share) => ({ ...share, label: `${number(share.count)} ${components().status[share.name] ?? batches().verdict[share.name] ?? share.name}` }));
  return (
    <div class="coverage">
      <ShareBar label={named.map(({ label }) => label).join(", ")} parts={named.map(({ label, tone, count }) => [label, tone, count] as const)} />
      <ul class="legends">{named.map(({ name, label, tone }) => <li key={name} class={`legend ${tone}`}>{label}</li>)}</ul>
    </div>
  );
}
