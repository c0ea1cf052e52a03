/** What an error code means and what to do about it. */

import { effect, signal } from "@preact/signals";
import { recoveries } from "../app/connection.ts";
import { language, type Language } from "./language.ts";

export interface ErrorText {
  /** One sentence: what happened. */
  means: string;
  /** One or two sentences: what the reader can do. */
  advice: string;
}

/** The button that mends a source or job with an error. */
export type ErrorAction = "retry" | "fetch_again" | "upload" | "firecrawl" | "chunking" | "replay" | "delete";

/** By code. Without an entry, nothing here can mend it: the advice says who can. */
const ACTIONS: Readonly<Record<string, ErrorAction>> = {
  unsupported_type: "upload",
  type_mismatch: "upload",
  empty_content: "upload",
  no_text: "retry",
  encrypted: "upload",
  corrupt: "upload",
  too_large: "upload",
  too_many_pages: "upload",
  archive_unsafe: "upload",
  parser_crashed: "upload",
  parser_timeout: "retry",
  parser_memory: "retry",
  parser_missing: "retry",
  blob_missing: "upload",
  invalid_path: "upload",
  duplicate_path: "upload",
  write_conflict: "upload",
  not_rescrapable: "upload",
  fetch_failed: "fetch_again",
  fetch_status: "fetch_again",
  fetch_blocked: "fetch_again",
  robots_disallowed: "fetch_again",
  redirect_loop: "fetch_again",
  login_page: "fetch_again",
  consent_wall: "fetch_again",
  soft_404: "delete",
  needs_javascript: "firecrawl",
  crawl_failed: "fetch_again",
  crawl_not_started: "fetch_again",
  embedding_rejected: "chunking",
  embedding_unavailable: "retry",
  embedding_unauthorized: "retry",
  embedding_model_missing: "retry",
  embedding_quota: "retry",
  embedding_mismatch: "retry",
  rate_limited: "retry",
  budget_exceeded: "retry",
  quota_exceeded: "retry",
  insufficient_storage: "retry",
  stage_timeout: "retry",
  worker_lost: "retry",
  database_timeout: "retry",
  cancelled: "retry",
  rejected: "retry",
  delivery_failed: "replay",
  invalid_payload: "retry",
  internal: "retry",
};

interface Texts {
  errors: Readonly<Record<string, readonly [means: string, advice: string]>>;
  warnings: Readonly<Record<string, string>>;
  steps: Readonly<Record<string, string>>;
  skipped: (step: string) => string;
  fields: Readonly<Record<string, string>>;
}
const LOADS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: () => import("./packs/en-errors.ts"),
  de: () => import("./packs/de-errors.ts"),
};
const texts = signal<Texts>({ errors: {}, warnings: {}, steps: {}, skipped: String, fields: {} });

/** No screen waits for them: few begin with a failure, which shows its code until then. */
export let errorsLoaded: Promise<void>;
effect(() => {
  recoveries.value; // the service may have been away
  const load = LOADS[language.value];
  errorsLoaded = load().then((found) => {
    if (load === LOADS[language.peek()]) texts.value = found;
  }, () => undefined);
});

/** The text of a code. Handlers outside the service have codes of their own: these get a general text. */
export function errorText(code: string): ErrorText {
  const { errors } = texts.value;
  const [means, advice] = errors[Object.hasOwn(errors, code) ? code : "unknown"] ?? [code, ""];
  return { means, advice };
}

/** What a warning of a document says; a warning without a text is its code. */
export function warningText(code: string): string {
  const { warnings, steps, skipped } = texts.value;
  const step = code.replace(/_skipped$/, "");
  if (step !== code) return skipped(own(steps, step) ?? step.replaceAll("_", " "));
  return own(warnings, code) ?? code.replaceAll("_", " ");
}

/** What a failure says, in a sentence: in English that of the service, which names the particulars. */
export function reasonText(code: string, detail: string | null | undefined): string {
  return (saysEnglish() ? detail : null) ?? errorText(code).means;
}

/** Why a field was refused; with the service's words, which name what is allowed. */
export function fieldText(code: string | undefined, message: string): string {
  const known = code === undefined ? undefined : own(texts.value.fields, code);
  return known === undefined ? message : `${known} (${message})`;
}

/** Sentences of the service are English: in another language they are particulars beside our own. */
export function saysEnglish(): boolean {
  return language.value === "en";
}

function own(texts: Readonly<Record<string, string>>, code: string): string | undefined {
  return Object.hasOwn(texts, code) ? texts[code] : undefined;
}

/** The codes that sources and jobs fail with, each with what it means. */
export function failureCodes(): (readonly [code: string, means: string])[] {
  return Object.keys(ACTIONS).map((code) => [code, errorText(code).means]);
}

export function errorAction(code: string): ErrorAction | undefined {
  return Object.hasOwn(ACTIONS, code) ? ACTIONS[code] : undefined;
}
