/** Metadata as people type it: a line per key. */

export class WrongLine extends Error {
  constructor(readonly line: string) {
    super(line);
  }
}

/**
 * `key=value` sets, `key=` removes (null). A value that is JSON counts as such: `year=2024` is a
 * number. Throws WrongLine.
 */
export function parseMetadata(text: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const line of text.split("\n").map((part) => part.trim())) {
    if (!line) continue;
    const at = line.indexOf("=");
    if (at < 1) throw new WrongLine(line);
    const value = line.slice(at + 1).trim();
    found[line.slice(0, at).trim()] = value === "" ? null : jsonOr(value);
  }
  return found;
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The lines that `parseMetadata` reads as this object. */
export function formatMetadata(metadata: Record<string, unknown>): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key}=${typeof value === "string" && isPlain(value) ? value : JSON.stringify(value)}`)
    .join("\n");
}

/** Whether a text is read as itself. */
function isPlain(text: string): boolean {
  return text !== "" && text.trim() === text && !text.includes("\n") && jsonOr(text) === text;
}
