/**
 * The language of the page. Messages of an area are an object per language, with the same keys:
 *
 *     const text = catalogue({ en, de });     // en: strings, and functions with parameters
 *     <p>{text().newRows(37)}</p>
 */

import { signal } from "@preact/signals";
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

/** What `en` says decides the type of all others. */
export function catalogue<M>(messages: { en: M } & Record<Language, NoInfer<M>>): () => M {
  return () => messages[language.value];
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
