/**
 * The language of the page. Messages of an area are an object per language, with the same keys:
 *
 *     const text = catalogue({
 *       en: async () => (await import("../../messages/packs/en-work.ts")).sources,
 *       de: async () => (await import("../../messages/packs/de-work.ts")).sources,
 *     });
 *     <p>{text().newRows(37)}</p>
 *
 * A language is loaded by those who read it. What the page needs before its first screen is there at
 * once in English.
 */

import { effect, signal, untracked } from "@preact/signals";
import { remember, remembered } from "../app/storage.ts";

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

function isLanguage(name: string | undefined): name is Language {
  return name !== undefined && Object.hasOwn(LANGUAGES, name);
}

function preferred(): Language {
  const wanted = [remembered("language"), ...(globalThis.navigator?.languages ?? [])];
  const known = wanted.map((name) => name?.split("-")[0]).find(isLanguage);
  return known ?? "en";
}

export const language = signal<Language>(preferred());

export function setLanguage(name: Language): void {
  language.value = name;
  remember("language", name);
}

type Load<M> = () => Promise<M>;
/** Of each catalogue: when it has some language. After a failure, it tries again. */
const loads: (() => Promise<void>)[] = [];

/**
 * What `en` says decides the type of all others. Screens are drawn when the messages are there that
 * they ask for (lazy.tsx); while another language is on its way, they stay in the one before.
 */
export function catalogue<M extends object>(
  messages: { en: M | Load<M> } & Record<Exclude<Language, "en">, Load<NoInfer<M>>>,
): () => M {
  const known = signal<Partial<Record<Language, M>>>(typeof messages.en === "function" ? {} : { en: messages.en });
  const begun = new Set<Language>();
  const load = async (name: Language): Promise<void> => {
    begun.add(name);
    const found = messages[name] as M | Load<M>;
    try {
      const loaded = typeof found === "function" ? await found() : found;
      known.value = { ...known.peek(), [name]: loaded };
    } catch (error) {
      begun.delete(name);
      // Better the language before than nothing.
      if (Object.keys(known.peek()).length === 0) throw error;
    }
  };
  let loaded = Promise.resolve();
  const begin = () => {
    if (begun.has(language.value)) return;
    loaded = untracked(() => load(language.value));
    loaded.catch(() => undefined);
  };
  effect(begin);
  loads.push(() => {
    untracked(begin);
    return loaded;
  });
  return () => (known.value[language.value] ?? Object.values(known.value)[0])!;
}

/** When the messages of the language are there that were asked for so far; fails if some cannot be had. */
export async function messagesLoaded(): Promise<void> {
  await Promise.all(loads.map((load) => load()));
}

/** The form of a number's noun: `plural("de", n, { one: "Zeile", other: "Zeilen" })`. */
export function plural(
  language: Language,
  n: number,
  forms: { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>,
): string {
  return forms[rules(language).select(n)] ?? forms.other;
}

const known = new Map<Language, Intl.PluralRules>();
function rules(language: Language): Intl.PluralRules {
  let found = known.get(language);
  if (!found) known.set(language, (found = new Intl.PluralRules(language)));
  return found;
}
