/** A search as code: for the shell, Python and TypeScript. The key is a variable, never a value. */

export const LANGUAGES = ["curl", "python", "typescript"] as const;
export type CodeLanguage = (typeof LANGUAGES)[number];

/** `url`: of the service, with its path prefix. */
export function codeOf(language: CodeLanguage, url: string, request: object): string {
  const base = url.replace(/\/$/, "");
  return { curl, python, typescript }[language](base, request);
}

function curl(url: string, request: object): string {
  return [
    `curl ${shell(`${url}/api/search`)} \\`,
    `  -H "Authorization: Bearer $INGEST_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shell(JSON.stringify(request))}`,
  ].join("\n");
}

function shell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function python(url: string, request: object): string {
  return [
    "import os",
    "",
    "import httpx",
    "",
    "answer = httpx.post(",
    `    ${pythonValue(`${url}/api/search`)},`,
    `    headers={"Authorization": f"Bearer {os.environ['INGEST_API_KEY']}"},`,
    `    json=${pythonValue(request)},`,
    ")",
    "answer.raise_for_status()",
    `for hit in answer.json()["hits"]:`,
    `    print(hit["score"], hit["uri"], hit["page"])`,
  ].join("\n");
}

function pythonValue(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([name, item]) => `${pythonValue(name)}: ${pythonValue(item)}`).join(", ")}}`;
  // Escapes of JSON are those of Python, but pairs of surrogates: those are written as they are.
  return JSON.stringify(value);
}

function typescript(url: string, request: object): string {
  return [
    `import { Client } from "@rag-ingest/client";`,
    "",
    `const client = new Client({ baseUrl: ${JSON.stringify(`${url}/`)}, key: process.env.INGEST_API_KEY! });`,
    `const { hits } = await client.post("/api/search", {`,
    `  body: ${JSON.stringify(request)},`,
    "});",
    "for (const hit of hits) console.log(hit.score, hit.uri, hit.page);",
  ].join("\n");
}
