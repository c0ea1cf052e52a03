/** Path patterns of a crawl, checked while they are typed. The service uses RE2 and decides again. */

export type PatternProblem = "invalid" | "lookaround" | "backreference" | "tooLong" | "tooMany";

export const MOST_PATTERNS = 50;
const LONGEST = 500;

/** A pattern per line. */
export function patternsOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

export function patternProblem(pattern: string): PatternProblem | undefined {
  if (pattern.length > LONGEST) return "tooLong";
  const unescaped = pattern.replace(/\\[^1-9]/g, "");
  // RE2 has neither.
  if (/\(\?<?[=!]/.test(unescaped)) return "lookaround";
  if (/\\[1-9]/.test(unescaped)) return "backreference";
  try {
    new RegExp(withoutFlags(pattern), "u");
    return undefined;
  } catch {
    return "invalid";
  }
}

/** `(?i)` and the like at the start, and `(?P<name>`, are RE2's. */
function withoutFlags(pattern: string): string {
  return pattern.replace(/^\(\?[imsU]+\)/, "").replaceAll("(?P<", "(?<");
}

function finds(pattern: string, path: string): boolean {
  const flags = /^\(\?([imsU]+)\)/.exec(pattern)?.[1] ?? "";
  return new RegExp(withoutFlags(pattern), flags.replace("U", "")).test(path);
}

/** Whether the crawl would take a page with this path; undefined while a pattern is wrong. */
export function isWanted(path: string, include: readonly string[], exclude: readonly string[]): boolean | undefined {
  if ([...include, ...exclude].some((pattern) => patternProblem(pattern) !== undefined)) return undefined;
  if (exclude.some((pattern) => finds(pattern, path))) return false;
  return include.length === 0 || include.some((pattern) => finds(pattern, path));
}

/** The path and query of an address, or what was typed as one. */
export function pathOf(text: string): string {
  const url = /^https?:\/\//.test(text) ? URL.parse?.(text) ?? undefined : undefined;
  if (url) return url.pathname + url.search;
  return text.startsWith("/") ? text : `/${text}`;
}
