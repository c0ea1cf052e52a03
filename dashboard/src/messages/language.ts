/**
 * The language of the page. Messages of an area are an object per language, with the same keys:
 *
 *     const text = catalogue({ en, de: async () => (await import("../../messages/de/sources.ts")).sources });
 *     <p>{text().newRows(37)}</p>
 *
 * English is there at once, other languages are loaded by those who read them.
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
const loads: Promise<void>[] = [];

/** What `en` says decides the type of all others. */
export function catalogue<M extends object>(
  messages: { en: M } & Record<Exclude<Language, "en">, NoInfer<M> | Load<NoInfer<M>>>,
): () => M {
  const known = signal<Partial<Record<Language, M>>>({ en: messages.en });
  const begun = new Set<Language>();
  const load = (name: Language): void => {
    const found: M | Load<M> = messages[name];
    begun.add(name);
    if (typeof found !== "function") known.value = { ...known.peek(), [name]: found };
    else {
      const loaded = found().then((messages) => {
        known.value = { ...known.peek(), [name]: messages };
      });
      // Without its file, the page stays English.
      loads.push(loaded.catch(() => undefined));
    }
  };
  effect(() => {
    if (!begun.has(language.value)) untracked(() => load(language.value));
  });
  return () => known.value[language.value] ?? messages.en;
}

/** When the messages of the language are there that were asked for so far. */
export async function messagesLoaded(): Promise<void> {
  await Promise.all(loads);
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
