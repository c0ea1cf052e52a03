/** Requests to the API: typed by route, with its problems as errors and its lists as iterators. */

import type { FieldError, Operations, Page } from "./types.ts";

export interface ClientOptions {
  /** Where the service is, such as `https://host/prefix/`; in a page, `document.baseURI`. */
  baseUrl: string | URL;
  /** An API key. Without one, requests carry the session cookie of the page's own origin. */
  key?: string;
  /** The application of each request, for the operator: its id, or a function that returns it. */
  applicationId?: string | (() => string | undefined);
  fetch?: typeof fetch;
}

export interface RequestOptions {
  /** undefined and null are left out; a list is a parameter for each of its values. */
  query?: object;
  /** Sent as JSON, unless it is a form, a string or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The service refused a request: `code` is stable, `detail` is a sentence for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** The fields that are wrong; empty if the error concerns no single field. */
  readonly errors: readonly FieldError[];
  /** Seconds after which the service allows another try. */
  readonly retryAfter: number | undefined;
  /** All members of the problem document; some problems have further ones. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Record<string, unknown>, retryAfter?: number) {
    const detail = typeof problem.detail === "string" ? problem.detail : `HTTP status ${status}`;
    super(detail);
    this.status = status;
    this.detail = detail;
    this.code = typeof problem.code === "string" ? problem.code : "unknown";
    this.errors = Array.isArray(problem.errors) ? (problem.errors as FieldError[]) : [];
    this.retryAfter = retryAfter;
    this.problem = problem;
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return [408, 425, 429, 502, 503, 504].includes(this.status);
  }
}

/** No answer arrived: the service is down, or the network between. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
}

type Route = keyof Operations;
type PathOf<M extends string> = Route extends infer R ? (R extends `${M} ${infer P}` ? P : never) : never;
type Operation<M extends string, P extends string> = Operations[`${M} ${P}` & Route];

/** What a route takes: `path` and `body` are required where the route has them. */
export type CallOptions<O extends { path: object; query: object; body: unknown }> = {
  query?: O["query"];
  headers?: Record<string, string>;
  signal?: AbortSignal;
} & ({} extends O["path"] ? { path?: undefined } : { path: O["path"] }) &
  (O["body"] extends undefined ? { body?: undefined } : { body: O["body"] });

type Arguments<O extends { path: object; query: object; body: unknown }> =
  {} extends CallOptions<O> ? [options?: CallOptions<O>] : [options: CallOptions<O>];

/** The items of the lists that GET routes answer. */
export type Items<P extends PathOf<"GET">> = Operation<"GET", P>["answer"] extends Page<infer T> ? T : never;

export class Client {
  readonly baseUrl: URL;
  private readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
    this.baseUrl = new URL(options.baseUrl);
  }

  get<P extends PathOf<"GET">>(path: P, ...[options]: Arguments<Operation<"GET", P>>): Promise<Operation<"GET", P>["answer"]> {
    return this.request("GET", path, options as RequestOptions);
  }

  post<P extends PathOf<"POST">>(path: P, ...[options]: Arguments<Operation<"POST", P>>): Promise<Operation<"POST", P>["answer"]> {
    return this.request("POST", path, options as RequestOptions);
  }

  put<P extends PathOf<"PUT">>(path: P, ...[options]: Arguments<Operation<"PUT", P>>): Promise<Operation<"PUT", P>["answer"]> {
    return this.request("PUT", path, options as RequestOptions);
  }

  patch<P extends PathOf<"PATCH">>(path: P, ...[options]: Arguments<Operation<"PATCH", P>>): Promise<Operation<"PATCH", P>["answer"]> {
    return this.request("PATCH", path, options as RequestOptions);
  }

  delete<P extends PathOf<"DELETE">>(path: P, ...[options]: Arguments<Operation<"DELETE", P>>): Promise<Operation<"DELETE", P>["answer"]> {
    return this.request("DELETE", path, options as RequestOptions);
  }

  /** Every item of a list, read page by page as it is consumed. */
  async *items<P extends PathOf<"GET">>(path: P, ...[options]: Arguments<Operation<"GET", P>>): AsyncGenerator<Items<P>> {
    const given = (options ?? {}) as RequestOptions;
    let cursor: string | null = null;
    do {
      const query: object = cursor === null ? { ...given.query } : { ...given.query, cursor };
      const page: Page<Items<P>> = await this.request("GET", path, { ...given, query });
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** The address of a route, for a link or an `<img>`; the base is the service's. */
  url(path: string, options: { path?: object; query?: object } = {}): URL {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String((options.path as Record<string, unknown>)[name])),
    );
    const url = new URL(filled.replace(/^\//, ""), this.baseUrl);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) url.searchParams.append(name, String(one));
      }
    }
    return url;
  }

  /**
   * A request whose answer is JSON, text (`text/*` is returned as Response), or nothing.
   * Throws ApiError, NetworkError, and the signal's reason when aborted.
   */
  async request<T>(method: string, path: string, options: RequestOptions & { path?: object } = {}): Promise<T> {
    const response = await this.fetch(method, this.url(path, options), options);
    if (!response.ok) throw await problemOf(response);
    if (response.status === 204) return undefined as T;
    const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
    return (isJson ? await this.json(response) : response) as T;
  }

  private async json(response: Response): Promise<unknown> {
    try {
      return await response.json();
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new NetworkError("the answer ended early", { cause: error });
    }
  }

  private async fetch(method: string, url: URL, { body, headers, signal }: RequestOptions): Promise<Response> {
    const { key, applicationId } = this.options;
    const application = typeof applicationId === "function" ? applicationId() : applicationId;
    const sent = new Headers(headers);
    if (key !== undefined) sent.set("Authorization", `Bearer ${key}`);
    // Forces a preflight on other origins: no foreign page can use the cookie.
    else sent.set("X-Ingest-Csrf", "1");
    if (application && !sent.has("X-Application-Id")) sent.set("X-Application-Id", application);
    const isRaw = body === undefined || typeof body === "string" || isBinary(body);
    if (!isRaw) sent.set("Content-Type", "application/json");
    try {
      return await (this.options.fetch ?? fetch)(url, {
        method,
        headers: sent,
        body: isRaw ? (body as BodyInit | undefined) : JSON.stringify(body),
        credentials: key === undefined ? "same-origin" : "omit",
        cache: "no-store",
        signal,
      });
    } catch (error) {
      if (isAbort(error) || signal?.aborted) throw error;
      throw new NetworkError("the service does not answer", { cause: error });
    }
  }
}

function isBinary(body: unknown): boolean {
  return (
    body instanceof FormData || body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams || body instanceof ReadableStream
  );
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && (error.name === "AbortError" || error.name === "TimeoutError");
}

async function problemOf(response: Response): Promise<ApiError> {
  let problem: unknown;
  try {
    problem = await response.json();
  } catch {
    problem = undefined; // a proxy's page
  }
  const retryAfter = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  return new ApiError(
    response.status,
    typeof problem === "object" && problem !== null ? (problem as Record<string, unknown>) : {},
    Number.isNaN(retryAfter) ? undefined : retryAfter,
  );
}
