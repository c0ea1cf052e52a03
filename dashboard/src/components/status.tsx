/** States, and how far something is. */

import { errorText, warningText } from "../messages/errors.ts";
import { percent as formatPercent } from "../messages/format.ts";
import { components } from "./messages.ts";
import { Icon, type IconName } from "./icon.tsx";

export type Status =
  | "pending" | "processing" | "completed" | "partial" | "failed" | "cancelled" | "review_needed"
  // of a file whose source is gone
  | "deleted"
  // of deliveries and lanes
  | "delivered" | "paused";

const LOOKS: Record<Status, { tone: Tone; icon: IconName }> = {
  pending: { tone: "neutral", icon: "clock" },
  processing: { tone: "active", icon: "play" },
  completed: { tone: "good", icon: "check" },
  delivered: { tone: "good", icon: "check" },
  partial: { tone: "warning", icon: "warning" },
  failed: { tone: "bad", icon: "cross" },
  cancelled: { tone: "neutral", icon: "minus" },
  deleted: { tone: "neutral", icon: "trash" },
  paused: { tone: "warning", icon: "pause" },
  review_needed: { tone: "warning", icon: "reviews" },
};

export type Tone = "neutral" | "active" | "good" | "warning" | "bad";

/** A state in words, with a tone and an icon: never by colour alone. */
export function StatusBadge({ status }: { status: Status }) {
  const { tone, icon } = LOOKS[status] ?? LOOKS.pending;
  return <Badge tone={tone} icon={icon}>{components().status[status] ?? status}</Badge>;
}

export function Badge({ tone = "neutral", icon, children, title }: { tone?: Tone; icon?: IconName; children: string; title?: string }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

/** A failure in a row: what happened, and its code; the service's own words where somebody points at it. */
export function Failure({ code, detail }: { code: string; detail?: string | null }) {
  return <small class="reason" title={detail ?? undefined}>{errorText(code).means} <code>{code}</code></small>;
}

/** What was odd about a document that was read, a line each. */
export function Warnings({ codes }: { codes: readonly string[] }) {
  return <ul class="warnings">{codes.map((code) => <li key={code} title={code}><Icon name="warning" />{warningText(code)}</li>)}</ul>;
}

/** `value` from 0 to 100; null: unknown, and the bar moves. */
export function ProgressBar({ value, label }: { value: number | null | undefined; label: string }) {
  const isKnown = value !== null && value !== undefined;
  return (
    <span class="progress">
      <progress max={100} value={isKnown ? value : undefined} aria-label={label} />
      {isKnown && <span class="progress-text">{formatPercent(value)}</span>}
    </span>
  );
}

/** A part of a whole, such as of a quota: above `high` it warns. */
export function Meter({ value, max, high = 0.9, label }: { value: number; max: number; high?: number; label: string }) {
  return <meter min={0} max={max} low={max * high} high={max * high + 1e-9} optimum={0} value={Math.min(value, max)} aria-label={label} title={label} />;
}
