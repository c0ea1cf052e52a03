/** Nothing there, something on its way, something wrong. */

import { ApiError, NetworkError } from "@rag-ingest/client";
import type { ComponentChildren } from "preact";
import { errorText, saysEnglish } from "../messages/errors.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { components } from "./messages.ts";

/** Says what is missing, and how to get it. */
export function EmptyState({ icon = "sources", title, children }: { icon?: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Lines in the place of what is loaded. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={components().loading}>
      {Array.from({ length: lines }, (_, i) => <div key={i} />)}
    </div>
  );
}

interface Failure {
  code: string;
  detail?: string | null;
}

/**
 * A failure with everything that helps: the code, what it means, what to do, what the service said,
 * and the buttons that do it (`children`, or `onRetry`).
 */
export function ErrorCard({ error, onRetry, children }: { error: unknown; onRetry?: () => void; children?: ComponentChildren }) {
  const { code, detail } = failureOf(error);
  const { means, advice } = errorText(code);
  return (
    <section class="error-card" role="alert">
      <Icon name="warning" />
      <div>
        <h2>{means}</h2>
        {advice && <p>{advice}</p>}
        {detail && <Detail text={detail} />}
        <div class="actions">
          {onRetry && <Button icon="retry" onClick={onRetry}>{components().tryAgain}</Button>}
          {children}
          <code>{code}</code>
          <CopyButton text={detail ? `${code}: ${detail}` : code} label={components().copyError} />
        </div>
      </div>
    </section>
  );
}

/** What the service said: it speaks English, so elsewhere than on an English page it is a technical detail. */
export function Detail({ text }: { text: string }) {
  const said = <p class="detail" lang="en" dir="auto">{text}</p>;
  return saysEnglish() ? said : <details class="technical"><summary>{components().technical}</summary>{said}</details>;
}

/** The code and sentence of an exception, or of an object of the API with `errorCode`. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return { code: error.code, detail: error.detail };
  if (error instanceof NetworkError) return { code: "unreachable" };
  if (typeof error === "object" && error !== null && "code" in error) return error as Failure;
  return { code: "unexpected", detail: String(error) };
}
