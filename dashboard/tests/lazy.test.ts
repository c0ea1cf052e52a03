/** Screens that are loaded when they are opened, whenever their code comes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { h, options, render, type FunctionComponent } from "preact";
import { recoveries } from "../src/app/connection.ts";
import { lazy } from "../src/app/lazy.tsx";

/** As much of a document as is needed to draw. */
class Node {
  childNodes: Node[] = [];
  parentNode: Node | null = null;
  attributes: never[] = [];
  data = "";
  readonly ownerDocument = globalThis.document;
  constructor(readonly localName: string) {}
  get firstChild(): Node | null { return this.childNodes[0] ?? null; }
  get nextSibling(): Node | null { return this.parentNode!.childNodes[this.parentNode!.childNodes.indexOf(this) + 1] ?? null; }
  get isConnected(): boolean { return true; }
  insertBefore(child: Node, before: Node | null): Node {
    child.remove();
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    this.childNodes.splice(at, 0, child);
    child.parentNode = this;
    return child;
  }
  appendChild(child: Node): Node { return this.insertBefore(child, null); }
  removeChild(child: Node): Node { child.remove(); return child; }
  contains(): boolean { return true; }
  remove(): void {
    if (this.parentNode) this.parentNode.childNodes = this.parentNode.childNodes.filter((one) => one !== this);
    this.parentNode = null;
  }
  setAttribute(): void {}
  removeAttribute(): void {}
  addEventListener(): void {}
  get text(): string { return this.data + this.childNodes.map((child) => child.text).join(""); }
}

const made = { createElement: (name: string) => new Node(name), createElementNS: (_: string, name: string) => new Node(name), createTextNode: (data: string) => Object.assign(new Node("#text"), { data }) };
globalThis.document = made as unknown as Document;

/** Effects run when the test says so, as a busy browser runs them late. */
let effects: (() => void)[] = [];
options.requestAnimationFrame = (run) => effects.push(run);
function runEffects(): void {
  const due = effects;
  effects = [];
  for (const run of due) run();
}
/** Promises that are settled have been told, and what they changed is drawn. */
const drawn = () => new Promise((resolve) => setTimeout(resolve));

const Screen: FunctionComponent = () => h("p", null, "the screen");

/** A screen and what makes its code arrive, with a page to show it on. */
function opened() {
  let arrive!: () => void;
  const code = new Promise<FunctionComponent>((resolve) => (arrive = () => resolve(Screen)));
  const Lazy = lazy(() => code);
  const page = new Node("main");
  return { page, arrive, show: (isShown: boolean) => render(isShown ? h(Lazy, {}) : null, page as unknown as Element) };
}

test("a screen is shown when its code has arrived", async () => {
  const { page, arrive, show } = opened();
  show(true);
  runEffects();
  assert.equal(page.text, "");
  arrive();
  await drawn();

  assert.equal(page.text, "the screen");
  show(false);
  show(true);
  assert.equal(page.text, "the screen");
});

test("a screen that is left and entered again while it loads does not stay empty", async () => {
  const { page, arrive, show } = opened();
  show(true);
  runEffects();
  show(false);
  show(true);
  // Drawn without its code, which arrives before the effects of this drawing.
  arrive();
  await drawn();
  runEffects();
  await drawn();

  assert.equal(page.text, "the screen");
});

test("a screen whose code did not arrive is loaded with the page when the service is back", async () => {
  let reloads = 0;
  globalThis.location = { reload: () => (reloads += 1) } as unknown as Location;
  const Lazy = lazy(() => Promise.reject(new Error("no network")));
  const page = new Node("main");
  render(h(Lazy, {}), page as unknown as Element);
  runEffects();
  await drawn();
  runEffects();
  assert.match(page.text, /page_outdated/);
  assert.equal(reloads, 0);

  recoveries.value += 1;
  await drawn();
  runEffects();

  assert.equal(reloads, 1);
});
