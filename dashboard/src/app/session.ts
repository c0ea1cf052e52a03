/** Who is signed in, and the client that every screen uses. */

import { ApiError, Client, Live, type LiveState, type Me } from "@rag-ingest/client";
import { computed, effect, signal } from "@preact/signals";
import { isUp, recoveries, watchedFetch } from "./connection.ts";
import { place, setQuery } from "./router.ts";

export type { Me };
export type Role = Me["role"];

export type Session =
  | { state: "loading" }
  | { state: "signedIn"; me: Me }
  /** `wasSignedIn`: it ended while the page was open. `error`: why signing in failed. */
  | { state: "signedOut"; wasSignedIn?: boolean; error?: unknown };

export const session = signal<Session>({ state: "loading" });

/** The operator's application, from the address. */
export const chosenApplication = computed(() => place.value.query.get("app") ?? undefined);

/** How often somebody signed in: the answer to a request from before says nothing of the session now. */
let signIns = 0;

export const api = new Client({
  baseUrl: globalThis.document?.baseURI ?? "http://localhost/",
  applicationId: () => chosenApplication.peek(),
  fetch: async (input, init) => {
    const asked = signIns;
    const response = await watchedFetch(input as URL, init);
    if (response.status === 401 && asked === signIns && session.peek().state === "signedIn") {
      session.value = { state: "signedOut", wasSignedIn: true };
    }
    return response;
  },
});

/** Who is signed in; for components below the shell, where somebody always is. */
export function me(): Me {
  const now = session.value;
  if (now.state !== "signedIn") throw new Error("nobody is signed in");
  return now.me;
}

const RANKS: Record<Role, number> = { viewer: 0, editor: 1, admin: 2 };

/** Whether to show what needs this role, or the operator. The service decides again. */
export function may(role: Role | "operator"): boolean {
  const now = session.value;
  if (now.state !== "signedIn") return false;
  if (now.me.isOperator) return true;
  return role !== "operator" && RANKS[now.me.role] >= RANKS[role];
}

/** Ask who is signed in; while the service is away, it is asked again when it is back. */
export async function loadSession(): Promise<void> {
  const asked = signIns;
  try {
    const answer = await api.get("/api/me");
    if (asked === signIns) session.value = { state: "signedIn", me: answer };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      // Somebody who was signed in has been signed out already, by `fetch` above.
      if (asked === signIns && session.peek().state !== "signedOut") session.value = { state: "signedOut" };
    } else if (error instanceof ApiError && !error.isTemporary && chosenApplication.peek()) {
      // The address names an application that does not exist, or is not theirs.
      setQuery({ app: undefined }, { replace: true });
      await loadSession();
    } else if (session.peek().state !== "signedIn") session.value = { state: "signedOut", error };
  }
}

/** Sign in by a key, or by the code of a one-time link. */
export async function signIn(proof: { key: string } | { code: string }): Promise<void> {
  const answer = await api.post("/api/session", { body: proof });
  signIns += 1;
  session.value = { state: "signedIn", me: answer };
}

export async function signOut(): Promise<void> {
  await api.delete("/api/session");
  session.value = { state: "signedOut" };
}

const LINK = /^#login=(.+)$/;

/**
 * Exchange the code of a link `#login=CODE`, which leaves the address and the history first.
 * Otherwise look for a session.
 */
export async function startSession(): Promise<void> {
  const code = LINK.exec(globalThis.location.hash)?.[1];
  if (code === undefined) return loadSession();
  history.replaceState(null, "", globalThis.location.pathname + globalThis.location.search + "#/");
  try {
    await signIn({ code: decodeURIComponent(code) });
  } catch (error) {
    // An old link in a browser that is signed in is no reason to sign in again.
    await loadSession();
    if (session.value.state === "signedOut") session.value = { state: "signedOut", error: error instanceof ApiError && error.status === 401 ? { code: "link_used" } : error };
  }
}

export const liveState = signal<LiveState>("closed");

export const live = new Live({
  // A ticket rather than the cookie: it carries the operator's application.
  url: async (signal) => {
    const { ticket } = await api.post("/api/tickets", { signal });
    const url = api.url("/api/ws", { query: { ticket } });
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url;
  },
  onState: (state) => {
    const wasLost = liveState.peek() === "reconnecting";
    liveState.value = state;
    // What was asked of the dead network may never be answered, and nobody told of new rows.
    if (wasLost && state === "connected") recoveries.value += 1;
  },
  // The session may have ended, or the key may see something else now: ask, and try again if it has not.
  onUnauthorized: () => setTimeout(async () => {
    await loadSession();
    if (session.peek().state === "signedIn") live.open();
  }, 2000),
});

/** Connect while somebody is signed in, again for each identity and application; at once when the network is back. */
export function keepSession(): void {
  const identity = computed(() => {
    if (session.value.state !== "signedIn") return undefined;
    const { application, role, isOperator, keyName } = session.value.me;
    return JSON.stringify([application.id, role, isOperator, keyName]);
  });
  effect(() => {
    live.close();
    if (identity.value !== undefined) live.open();
  });
  effect(() => {
    chosenApplication.value;
    if (session.peek().state === "signedIn") void loadSession();
  });
  effect(() => {
    recoveries.value;
    live.retryNow();
  });
  effect(() => {
    const now = session.peek();
    if (isUp.value && now.state === "signedOut" && now.error !== undefined) void loadSession();
  });
  // A link that is opened where the page is already open.
  globalThis.addEventListener("hashchange", () => {
    if (LINK.test(globalThis.location.hash)) void startSession();
  });
  globalThis.addEventListener("online", () => live.retryNow());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") live.retryNow();
  });
}
