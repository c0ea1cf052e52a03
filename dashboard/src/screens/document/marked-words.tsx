/** The words of the search that a document was opened from. */

import { useMemo } from "preact/hooks";
import { setQuery } from "../../app/router.ts";
import { IconButton } from "../../components/button.tsx";
import { mark } from "../search/marking.ts";
import { documents } from "./messages.ts";

export function MarkedWords({ text, words }: { text: string; words: readonly string[] }) {
  const segments = useMemo(() => mark(text, words), [text, words.join(" ")]);
  return <>{segments.map(({ text, isMatch }, at) => (isMatch ? <mark key={at} class="word">{text}</mark> : text))}</>;
}

/** Which they are, and the end of it. */
export function WordList({ words }: { words: readonly string[] }) {
  if (!words.length) return null;
  const t = documents();
  return (
    <p class="document-words">
      <span>{t.markedWords}</span>
      {words.map((word) => <mark key={word} class="word" dir="auto">{word}</mark>)}
      <IconButton icon="cross" label={t.unmark} onClick={() => setQuery({ words: undefined }, { replace: true })} />
    </p>
  );
}
