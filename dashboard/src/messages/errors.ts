/** What an error code means and what to do about it. */

import { errors as de } from "./de/errors.ts";
import { errors as en } from "./en/errors.ts";
import { catalogue } from "./language.ts";

export interface ErrorText {
  /** One sentence: what happened. */
  means: string;
  /** One or two sentences: what the reader can do. */
  advice: string;
}

/** The button that belongs to an error of a source or job. */
export type ErrorAction = "retry" | "fetch_again" | "upload" | "settings" | "raise_quota" | "review";

const ACTIONS: Readonly<Record<string, ErrorAction>> = {
};

const texts = catalogue<Readonly<Record<string, ErrorText>>>({ en, de });

/** The text of a code. Handlers outside the service have codes of their own: these get a general text. */
export function errorText(code: string): ErrorText {
  const known = texts();
  return (Object.hasOwn(known, code) ? known[code] : known["unknown"])!;
}

export function errorAction(code: string): ErrorAction | undefined {
  return Object.hasOwn(ACTIONS, code) ? ACTIONS[code] : undefined;
}
