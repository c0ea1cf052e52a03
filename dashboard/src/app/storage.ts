/** Preferences of this browser. Where storage is forbidden, they last as long as the page. */

const PREFIX = "rag-ingest:";
type Name = "theme" | "language" | `upload:${string}`;

export function remembered(name: Name): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name: Name, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // Private mode, or a full disk.
  }
}

export function forget(name: Name): void {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch {
    // As above.
  }
}
