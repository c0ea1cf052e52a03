/** Which judgement is about which hit. */

import type { Judgement, SearchFilter, SearchHit } from "@rag-ingest/client";

/** The words alone, as the service compares quotes. */
function plain(text: string): string {
  return ` ${(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(" ")} `;
}

/** Equal for equal JSON, whatever the order of its members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, item]) => item !== null && item !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join()}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Whether two filters make the same question. */
export function sameFilter(a: object | null | undefined, b: object | null | undefined): boolean {
  return canonical(a ?? null) === canonical(b ?? null);
}

/** The judgement of a hit for this filter; undefined if it was not judged. */
export function judgementOf(hit: SearchHit, filter: SearchFilter | undefined, judgements: readonly Judgement[]): Judgement | undefined {
  const content = plain(hit.content);
  return judgements.find(
    (one) => one.documentId === hit.documentId && sameFilter(one.filter, filter) && content.includes(plain(one.quote)),
  );
}
