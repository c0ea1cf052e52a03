/** Addresses of scripts, which the content security policy accepts from the policy `ingest` only. */

declare const WORKERS: Readonly<Record<string, string>>;

interface Factory {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): string };
}

const types = (globalThis as { trustedTypes?: Factory }).trustedTypes;
const policy = types?.createPolicy("ingest", {
  createScriptURL(url) {
    if (!Object.values(WORKERS).some((name) => url === new URL(`assets/${name}`, document.baseURI).href)) {
      throw new TypeError("not a script of this page");
    }
    return url;
  },
});

/** Start `src/workers/NAME.ts`. */
export function openWorker(name: string): Worker {
  const file = WORKERS[name];
  if (file === undefined) throw new Error(`there is no worker ${name}`);
  const url = new URL(`assets/${file}`, document.baseURI).href;
  return new Worker(policy ? policy.createScriptURL(url) : url, { type: "module" });
}
