/** How a source is mended: by the button of its error's card, or by the one that processes it again. */

import type { Source } from "@rag-ingest/client";
import { errorAction, type ErrorAction } from "../../messages/errors.ts";

type State = Pick<Source, "type" | "errorCode" | "status">;

const MENDED = ["failed", "partial", "cancelled"];

/** What the card of the error offers; undefined: no card, or nothing that a reader can do. */
export function mendingOf({ type, errorCode, status }: State): ErrorAction | undefined {
  if (errorCode === null || !MENDED.includes(status)) return undefined;
  // The codes of a site's pages: their advice, such as to delete the source, is not for the site.
  if (type === "site" && status === "partial") return undefined;
  const action = errorAction(errorCode);
  if (action !== "retry") return action;
  // Pages and sites are fetched again, which retries too. Of a file, a run that completed has nothing to retry.
  if (type !== "file") return "fetch_again";
  return status === "partial" ? undefined : "retry";
}

/** How it is processed again from the header, where the card does not do the same; open ones are not. */
export function againOf(source: State): "retry" | "fetch_again" | "read_again" | undefined {
  if (!MENDED.includes(source.status) && source.status !== "completed") return undefined;
  const again = source.type !== "file" ? "fetch_again" : hasFailed(source) ? "retry" : "read_again";
  return mendingOf(source) !== again ? again : undefined;
}

function hasFailed({ status }: State): boolean {
  return status === "failed" || status === "cancelled";
}
