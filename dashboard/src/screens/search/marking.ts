/**
 * Where a text has the words of a query. The service says which words a hit has in some form; as
 * there, forms are compared by their beginnings, and Chinese, Japanese and Korean characters one by one.
 */

import type { WordMatch } from "@rag-ingest/client";

export interface Segment {
  text: string;
  isMatch: boolean;
}

const CJK = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uff66-\\uff9f\\u{20000}-\\u{3ffff}";
const WORDS = new RegExp(`[${CJK}]|(?:(?![${CJK}])[\\p{L}\\p{M}\\p{N}])+`, "gu");
const STEM = 5;

/** Equal for most forms of a word: `policy` and `policies`. */
export function key(word: string): string {
  if (!/^[\p{L}\p{M}]+$/u.test(word)) return word;
  const letters = [...word];
  if (letters.length > STEM) return letters.slice(0, STEM).join("");
  return letters.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

/** As the service folds a word before it takes runs of four letters. */
function bare(word: string): string {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss");
}

/** A word of less than this share of the heaviest one's weight says little. */
const LIGHT = 0.2;

/**
 * The terms worth marking. Words such as `the` would be marked in every line; they are left out
 * beside words that weigh much more. Limited keys see no weights, and get all terms.
 */
export function telling(terms: readonly string[], words: readonly Pick<WordMatch, "word" | "weight">[]): string[] {
  const least = LIGHT * Math.max(0, ...words.map(({ weight }) => weight ?? 0));
  const light = new Set(words.filter(({ weight }) => weight !== null && weight < least).map(({ word }) => key(word.toLowerCase())));
  return terms.filter((term) => !light.has(key(term.toLowerCase())));
}

/** `terms`: the words that the hit has; `grams`: runs of letters by which others were found. */
export function mark(content: string, terms: readonly string[], grams: readonly string[] = []): Segment[] {
  const keys = new Set(terms.flatMap((term) => [...term.toLowerCase().matchAll(WORDS)].map(([word]) => key(word))));
  const segments: Segment[] = [];
  let end = 0;
  const add = (text: string, isMatch: boolean) => {
    const last = segments.at(-1);
    if (last?.isMatch === isMatch) last.text += text;
    else if (text) segments.push({ text, isMatch });
  };
  for (const found of content.matchAll(WORDS)) {
    const word = found[0];
    const isMatch = keys.has(key(word.toLowerCase())) || (grams.length > 0 && hasGram(bare(word), grams));
    if (!isMatch) continue;
    add(content.slice(end, found.index), false);
    add(word, true);
    end = found.index + word.length;
  }
  add(content.slice(end), false);
  return segments;
}

/** So many words of a hit are in the link to its document. */
const MOST_WORDS = 12;

/** The words of a text that are marked in it, as it writes them: for `mark` in another text. */
export function foundWords(content: string, terms: readonly string[], grams: readonly string[] = []): string {
  const found = mark(content, terms, grams).filter(({ isMatch }) => isMatch).map(({ text }) => text.toLowerCase());
  return [...new Set(found)].slice(0, MOST_WORDS).join(" ");
}

/**
 * Where to begin to show a text, so that the first place with this word is seen: 0 if it is near the
 * start, else the start of its line or sentence.
 */
export function excerptStart(content: string, word: string | undefined): number {
  if (word === undefined) return 0;
  const wanted = key(word.toLowerCase());
  for (const found of content.matchAll(WORDS)) {
    if (key(found[0].toLowerCase()) !== wanted) continue;
    if (found.index < NEAR) return 0;
    const before = content.slice(0, found.index);
    const start = Math.max(before.lastIndexOf("\n") + 1, (/^[^]*[.!?。！？]\s+/.exec(before)?.[0] ?? "").length);
    return found.index - start > NEAR ? found.index : start;
  }
  return 0;
}

const NEAR = 200;

function hasGram(word: string, grams: readonly string[]): boolean {
  return grams.some((gram) => word.includes(gram));
}
