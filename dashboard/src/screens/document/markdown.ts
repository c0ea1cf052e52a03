/**
 * Markdown as a tree, of what extraction writes: headings, lists, tables, quotes, code, emphasis, links.
 *
 * The text comes from untrusted files. There is no HTML: it is text like any other. Links go to http(s)
 * and mailto only, pictures are their words. It takes linear time, whatever the text. Every piece of text
 * knows its place in the source, so that chunks, which are ranges of it, can be marked.
 */

/** A piece of text as it is shown; `start` is the place of its first character in the source. */
export interface TextPiece { kind: "text"; text: string; start: number }
export interface CodePiece { kind: "code"; text: string; start: number }
export interface Emphasis { kind: "strong" | "em"; children: Inline[] }
export interface Link { kind: "link"; href: string; children: Inline[] }
export type Inline = TextPiece | CodePiece | Emphasis | Link;

interface Range { start: number; end: number }
export type Block = Range & (
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "quote"; children: Inline[] }
  | { kind: "item"; depth: number; mark: string; children: Inline[] }
  | { kind: "table"; rows: Inline[][][]; hasHeader: boolean }
  | { kind: "code"; text: string; textStart: number }
  | { kind: "rule" }
);

interface Line extends Range { text: string }

const DEEPEST = 6;
const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^(#{1,6})[ \t]+(?=\S)/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const ITEM = /^([ \t]*)([-*+•]|\d{1,9}[.)])[ \t]+(?=\S)/;
const QUOTE = /^ {0,3}>[ \t]?/;
const ROW = /^\s*\|.*\|\s*$/;
const DIVIDER = /^[\s|:-]+$/;

export function parseMarkdown(source: string): Block[] {
  const lines = linesOf(source);
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function linesOf(source: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= source.length; ) {
    const found = source.indexOf("\n", start);
    const end = found < 0 ? source.length : found;
    lines.push({ start, end, text: source.slice(start, end) });
    start = end + 1;
  }
  return lines;
}

/** The block that begins at this line, and the line after it. */
function blockAt(lines: Line[], at: number): [Block | null, number] {
  const line = lines[at]!;
  const { start, end, text } = line;
  if (!text.trim()) return [null, at + 1];
  const fence = FENCE.exec(text);
  if (fence) return codeAt(lines, at, fence[1]!);
  const heading = HEADING.exec(text);
  if (heading) {
    const body = text.slice(heading[0].length);
    return [{ kind: "heading", level: heading[1]!.length, start, end, children: inline(body, start + heading[0].length) }, at + 1];
  }
  if (RULE.test(text)) return [{ kind: "rule", start, end }, at + 1];
  if (ROW.test(text)) return tableAt(lines, at);
  const item = ITEM.exec(text);
  if (item) {
    const depth = Math.min(DEEPEST, Math.floor(item[1]!.replaceAll("\t", "    ").length / 2));
    return joined(lines, at, item[0].length, (children, last) => ({ kind: "item", depth, mark: item[2]!, start, end: last, children }));
  }
  const quote = QUOTE.exec(text);
  if (quote) return [{ kind: "quote", start, end, children: inline(text.slice(quote[0].length), start + quote[0].length) }, at + 1];
  return joined(lines, at, 0, (children, last) => ({ kind: "paragraph", start, end: last, children }));
}

/** Lines up to the next block, as one text; their ends stay line breaks. */
function joined(lines: Line[], at: number, skipped: number, make: (children: Inline[], end: number) => Block): [Block, number] {
  let next = at + 1;
  while (next < lines.length && continues(lines[next]!.text)) next += 1;
  const first = lines[at]!;
  const end = lines[next - 1]!.end;
  const text = lines.slice(at, next).map((line) => line.text).join("\n").slice(skipped);
  return [make(inline(text, first.start + skipped), end), next];
}

function continues(text: string): boolean {
  return Boolean(text.trim()) && ![FENCE, HEADING, RULE, ROW, ITEM, QUOTE].some((start) => start.test(text));
}

function codeAt(lines: Line[], at: number, fence: string): [Block, number] {
  let next = at + 1;
  while (next < lines.length && !lines[next]!.text.trimStart().startsWith(fence)) next += 1;
  const inside = lines.slice(at + 1, next);
  const end = (lines[next] ?? lines[next - 1])!.end;
  const textStart = inside[0]?.start ?? lines[at]!.end;
  return [{ kind: "code", start: lines[at]!.start, end, textStart, text: inside.map(({ text }) => text).join("\n") }, next + 1];
}

function tableAt(lines: Line[], at: number): [Block, number] {
  let next = at;
  const rows: Inline[][][] = [];
  let hasHeader = false;
  while (next < lines.length && ROW.test(lines[next]!.text)) {
    const line = lines[next]!;
    if (DIVIDER.test(line.text) && line.text.includes("-")) hasHeader ||= rows.length === 1;
    else rows.push(cellsOf(line));
    next += 1;
  }
  return [{ kind: "table", start: lines[at]!.start, end: lines[next - 1]!.end, rows, hasHeader }, next];
}

function cellsOf({ text, start }: Line): Inline[][] {
  const cells: Inline[][] = [];
  const first = text.indexOf("|") + 1;
  const last = text.lastIndexOf("|");
  let from = first;
  for (let at = first; at <= last; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "|") {
      const cell = text.slice(from, at);
      const blank = cell.length - cell.trimStart().length;
      cells.push(inline(cell.trim(), start + from + blank));
      from = at + 1;
    }
  }
  return cells;
}

const ESCAPABLE = /[!-/:-@[-`{-~]/;

/** Emphasis, code and links of a text whose first character is at `start` in the source. */
function inline(text: string, start: number, depth = 0): Inline[] {
  const pieces: Inline[] = [];
  const find = finder(text);
  let plain = "";
  let plainStart = start;
  const add = (piece: string, at: number) => {
    if (!plain) plainStart = start + at;
    plain += piece;
  };
  const flush = () => {
    if (plain) pieces.push({ kind: "text", text: plain, start: plainStart });
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    const found = special(text, at, start, depth, find);
    if (found) {
      flush();
      pieces.push(...found.pieces);
      at = found.next;
    } else if (text[at] === "\\" && ESCAPABLE.test(text[at + 1] ?? "")) {
      flush(); // what follows is one place later than it would seem
      add(text[at + 1]!, at + 1);
      at += 2;
    } else {
      add(text[at]!, at);
      at += 1;
    }
  }
  flush();
  return pieces;
}

/** `find(mark, from)`: the next place of a mark; each is sought through the text once. */
function finder(text: string): (mark: string, from: number) => number {
  const known = new Map<string, number>();
  return (mark, from) => {
    let place = known.get(mark);
    if (place === undefined || (place >= 0 && place < from)) {
      place = text.indexOf(mark, from);
      known.set(mark, place);
    }
    return place;
  };
}

function special(text: string, at: number, start: number, depth: number, find: (mark: string, from: number) => number): { pieces: Inline[]; next: number } | null {
  const letter = text[at];
  if (letter === "`") {
    const end = find("`", at + 1);
    return end <= at + 1 ? null : { pieces: [{ kind: "code", text: text.slice(at + 1, end), start: start + at + 1 }], next: end + 1 };
  }
  if (letter === "[" || (letter === "!" && text[at + 1] === "[")) return linkAt(text, at, start, depth, find);
  if ((letter === "*" || letter === "_") && depth < DEEPEST) {
    const mark = text[at + 1] === letter ? letter + letter : letter;
    const from = at + mark.length;
    const end = find(mark, from);
    const isWord = letter === "_" && (/\w/.test(text[at - 1] ?? "") || /\w/.test(text[end + mark.length] ?? ""));
    if (end <= from || isWord || /\s/.test(text[from]!) || /\s/.test(text[end - 1]!)) return null;
    const children = inline(text.slice(from, end), start + from, depth + 1);
    return { pieces: [{ kind: mark.length === 2 ? "strong" : "em", children }], next: end + mark.length };
  }
  return null;
}

function linkAt(text: string, at: number, start: number, depth: number, find: (mark: string, from: number) => number): { pieces: Inline[]; next: number } | null {
  const from = at + (text[at] === "!" ? 2 : 1);
  const middle = find("](", from);
  const inner = find("[", from);
  if (middle < 0 || depth >= DEEPEST || (inner >= 0 && inner < middle)) return null;
  const end = find(")", middle + 2);
  if (end < 0) return null;
  const children = inline(text.slice(from, middle), start + from, depth + 1);
  const href = text[at] === "!" ? null : safeHref(text.slice(middle + 2, end));
  return { pieces: href === null ? children : [{ kind: "link", href, children }], next: end + 1 };
}

/** The address if it leads to http, https or mail; null for all others, such as `javascript:`. */
export function safeHref(address: string): string | null {
  const trimmed = address.trim().replace(/^<(.*)>$/, "$1").split(/\s/)[0] ?? "";
  if (!/^(https?:\/\/|mailto:)/i.test(trimmed) || /[\u0000-\u0020\u007f]/.test(trimmed)) return null;
  try {
    const { protocol, href } = new URL(trimmed);
    return ["http:", "https:", "mailto:"].includes(protocol) ? href : null;
  } catch {
    return null;
  }
}
