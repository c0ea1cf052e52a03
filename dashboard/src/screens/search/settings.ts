/** What is searched and how: as parameters of the address, as a form holds it, as a request. */

import type { SearchFilter, SearchRequest } from "@rag-ingest/client";
import { integer, oneOf, text, type Parse, type Parsed, type Query } from "../../app/router.ts";

export const MODES = ["hybrid", "vector", "keyword"] as const;
export type Mode = (typeof MODES)[number];

const decimal: Parse<number> = (value) => (/^-?\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : undefined);
const off: Parse<"off"> = oneOf(["off"]);

/** How to rank: what two columns may differ in. */
const HOW = {
  mode: oneOf(MODES),
  vector: decimal,
  keyword: decimal,
  rerank: off,
  collapse: off,
  perDocument: integer,
  diversity: decimal,
  minCosine: decimal,
  minBm25: decimal,
};
type HowName = keyof typeof HOW;
export type How = Parsed<typeof HOW>;
export const HOW_NAMES = Object.keys(HOW) as HowName[];

/** The parameters of the second column begin with this. */
const SECOND = "b.";

export const SEARCH = {
  q: text,
  limit: integer,
  where: text,
  collections: text,
  sources: text,
  set: text,
  compare: oneOf(["true"]),
  ...HOW,
  ...(Object.fromEntries(HOW_NAMES.map((name) => [SECOND + name, HOW[name]])) as Record<string, Parse<unknown>>),
};

/** What both columns share. */
export interface What {
  q?: string | undefined;
  limit?: number | undefined;
  where?: string | undefined;
  collections?: string | undefined;
  sources?: string | undefined;
}

export type Values = Readonly<Record<string, unknown>>;

export function howOf(values: Values, column: "first" | "second"): How {
  const prefix = column === "first" ? "" : SECOND;
  return Object.fromEntries(HOW_NAMES.map((name) => [name, values[prefix + name]])) as How;
}

/** The parameters of the address that a column's settings are. */
export function asQuery(how: How, column: "first" | "second"): Query {
  const prefix = column === "first" ? "" : SECOND;
  return Object.fromEntries(HOW_NAMES.map((name) => [prefix + name, how[name]]));
}

/** The ids in a text, whatever is between them. */
export function idsOf(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,;]+/).filter(Boolean);
}

/** The filter of a request; undefined if nothing is filtered. Text that is no JSON stays text: the service says so. */
export function filterOf({ where, collections, sources }: What): SearchFilter | undefined {
  const filter: SearchFilter = {};
  if (where) filter.where = parsed(where);
  if (collections) filter.collectionIds = idsOf(collections);
  if (sources) filter.knowledgeSourceIds = idsOf(sources);
  return Object.keys(filter).length ? filter : undefined;
}

/** The parameters of the address that a question with a filter is; the reverse of `filterOf`. */
export function whatOf(query: string, filter: SearchFilter | null): Query {
  const { where, metadata, collectionIds, knowledgeSourceIds } = filter ?? {};
  // The page has no field for metadata as they are; conditions say the same of values that are not nested.
  const conditions = { ...where, ...Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [`metadata.${name}`, value])) };
  return {
    q: query,
    where: Object.keys(conditions).length ? JSON.stringify(conditions) : undefined,
    collections: collectionIds?.join(","),
    sources: knowledgeSourceIds?.join(","),
  };
}

function parsed(where: string): Record<string, unknown> {
  try {
    return JSON.parse(where);
  } catch {
    return where as unknown as Record<string, unknown>;
  }
}

/** The request, without what is as usual. */
export function requestOf(what: What, how: How): SearchRequest {
  const { mode = "hybrid" } = how;
  const filter = filterOf(what);
  const weights = { ...(how.vector !== undefined && { vector: how.vector }), ...(how.keyword !== undefined && { keyword: how.keyword }) };
  const minScore = { ...(how.minCosine !== undefined && { cosine: how.minCosine }), ...(how.minBm25 !== undefined && { bm25: how.minBm25 }) };
  return {
    query: what.q ?? "",
    ...(what.limit !== undefined && { limit: what.limit }),
    ...(mode !== "hybrid" && { mode }),
    ...(filter && { filter }),
    ...(mode === "hybrid" && Object.keys(weights).length && { weights }),
    ...(Object.keys(minScore).length && { minScore }),
    ...(how.rerank && { rerank: false }),
    ...(how.collapse && { collapse: false }),
    ...(how.perDocument !== undefined && { perDocument: how.perDocument }),
    ...(how.diversity !== undefined && { diversity: how.diversity }),
  };
}
