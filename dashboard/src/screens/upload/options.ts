/** What is said of all files of an upload. Pure. */

import type { Chunking } from "@rag-ingest/client";

export interface Options {
  metadata?: Record<string, unknown> | undefined;
  collectionId?: string | undefined;
  priority: number;
  onConflict: "update" | "skip";
  chunking?: Chunking | undefined;
}

/** The fields of the form, as they are typed. */
export interface OptionFields {
  metadata: string;
  collectionId: string;
  priority: string;
  onConflict: "update" | "skip";
  size: string;
  overlap: string;
  by: "" | "heading" | "page" | "row" | "size";
}

export const NO_OPTIONS: OptionFields = {
  metadata: "", collectionId: "", priority: "0", onConflict: "update", size: "", overlap: "", by: "",
};

export type FieldProblem = "notJson" | "notObject" | "notWhole" | "outOfRange";

/** The options, or what is wrong with each field. */
export function readOptions(fields: OptionFields): { options: Options } | { problems: Partial<Record<keyof OptionFields, FieldProblem>> } {
  const problems: Partial<Record<keyof OptionFields, FieldProblem>> = {};
  const whole = (name: "priority" | "size" | "overlap", least: number, most: number): number | undefined => {
    const text = fields[name].trim();
    if (text === "") return undefined;
    const value = Number(text);
    if (!Number.isInteger(value)) problems[name] = "notWhole";
    else if (value < least || value > most) problems[name] = "outOfRange";
    return value;
  };
  const metadata = readMetadata(fields.metadata);
  if (typeof metadata === "string") problems.metadata = metadata;
  const priority = whole("priority", -100, 100) ?? 0;
  const size = whole("size", 1, 100_000);
  const overlap = whole("overlap", 0, 100_000);
  if (Object.keys(problems).length > 0) return { problems };
  const isCut = size !== undefined || overlap !== undefined || fields.by !== "";
  return {
    options: {
      metadata: metadata as Record<string, unknown> | undefined,
      collectionId: fields.collectionId || undefined,
      priority,
      onConflict: fields.onConflict,
      chunking: isCut ? { size: size ?? null, overlap: overlap ?? null, by: fields.by || null } : undefined,
    },
  };
}

/** `key=value` lines, or a JSON object. */
export function readMetadata(text: string): Record<string, unknown> | undefined | FieldProblem {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (!/^[[{"]/.test(trimmed) && trimmed.split("\n").every((line) => /^\s*[^=\s][^=]*=/.test(line))) {
    return Object.fromEntries(trimmed.split("\n").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }));
  }
  try {
    const value: unknown = JSON.parse(trimmed);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : "notObject";
  } catch {
    return "notJson";
  }
}
