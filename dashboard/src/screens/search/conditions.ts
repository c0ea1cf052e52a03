/** The filter `where` as rows of a form, as far as all of them must hold. */

export const OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "prefix", "glob", "exists"] as const;
export type Operator = (typeof OPERATORS)[number];

export const FIELDS = [
  "uri", "title", "mediaType", "language", "type", "name", "createdAt", "updatedAt", "publishedAt",
  "documentId", "knowledgeSourceId", "metadata.", "document.author", "document.date",
] as const;

export interface Condition {
  field: string;
  operator: Operator;
  /** As the reader writes it: JSON where it is JSON, else a text; lists with commas. */
  value: string;
}

/** Null if the filter says more than rows can. */
export function toConditions(where: string | undefined): Condition[] | null {
  if (!where) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(where);
  } catch {
    return null;
  }
  if (!isObject(parsed)) return null;
  const conditions: Condition[] = [];
  for (const [field, wanted] of Object.entries(parsed)) {
    if (["and", "or", "not", "$and", "$or", "$not"].includes(field)) return null;
    for (const [operator, value] of isObject(wanted) ? Object.entries(wanted) : [["eq", wanted] as const]) {
      const known = OPERATORS.find((name) => name === operator.replace(/^\$/, ""));
      if (!known || isObject(value)) return null;
      conditions.push({ field, operator: known, value: written(value) });
    }
  }
  return conditions;
}

/** Undefined for no condition. */
export function toWhere(conditions: readonly Condition[]): string | undefined {
  const where: Record<string, Record<string, unknown>> = {};
  for (const { field, operator, value } of conditions) {
    const name = field.trim();
    if (!name) continue;
    where[name] = { ...where[name], [operator]: read(operator, value) };
  }
  return Object.keys(where).length ? JSON.stringify(where) : undefined;
}

/** What the service says of a row: its field is `body.filter.where.FIELD`, or below that. */
export function isAbout(condition: Condition, errorField: string): boolean {
  const path = `body.filter.where.${condition.field.trim()}`;
  return errorField === path || errorField === `${path}.${condition.operator}` || errorField.startsWith(`${path}.${condition.operator}.`);
}

function read(operator: Operator, value: string): unknown {
  const isList = operator === "in" || operator === "nin";
  const json = asJson(value.trim());
  if (isList) return Array.isArray(json) ? json : value.split(",").map((part) => asJson(part.trim()) ?? part.trim()).filter((part) => part !== "");
  if (operator === "prefix" || operator === "glob") return value;
  if (operator === "exists") return json ?? (value.trim() ? value : true);
  return json ?? value;
}

/** Numbers, true, false, quoted texts and lists; undefined for other texts. */
function asJson(text: string): unknown {
  if (!/^(-?\d|true$|false$|"|\[)/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function written(value: unknown): string {
  if (Array.isArray(value)) {
    const isPlain = value.every((item) => typeof item === "string" && item !== "" && !/[,"]|^\s|\s$/.test(item) && asJson(item) === undefined);
    return isPlain ? value.join(", ") : JSON.stringify(value);
  }
  if (typeof value === "string") return asJson(value.trim()) === undefined ? value : JSON.stringify(value);
  return JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
