/** One hit: where it is from, its text with the words marked, both ranks and scores, and why. */

import type { HitExplanation, SearchExplanation, SearchHit, WordMatch } from "@rag-ingest/client";
import { useMemo, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Name } from "../../components/text.tsx";
import { decimal } from "../../messages/format.ts";
import { Thumbs, type Judgements } from "./judgements.tsx";
import { excerptStart, foundWords, mark, telling } from "./marking.ts";
import { search } from "./messages.ts";
import type { Move } from "./moves.ts";
import { Why } from "./why.tsx";

interface HitCardProps {
  hit: SearchHit;
  place: number;
  searchedBy: SearchExplanation["searchedBy"] | undefined;
  why: HitExplanation | undefined;
  /** Against the other ranking; undefined: there is none. */
  move: Move | undefined;
  judgements: Judgements;
}

/** Longer texts are cut until somebody wants to read them. */
const CUT = 420;

export function HitCard({ hit, place, searchedBy, why, move, judgements }: HitCardProps) {
  const [isWhole, setWhole] = useState(false);
  const by = (half: "vectors" | "words") => searchedBy?.includes(half) ?? true;
  const grams = why?.words.flatMap((word) => word.grams) ?? [];
  const isLong = hit.content.length > CUT;
  const rarest = why?.words.reduce<WordMatch | undefined>((best, word) => (word.body > 0 && (word.weight ?? 0) > (best?.weight ?? 0) ? word : best), undefined);
  const start = isWhole || !isLong ? 0 : excerptStart(hit.content, rarest?.word);
  const shown = isWhole ? hit.content : hit.content.slice(start).replace(/\n\s*\n/g, "\n");
  const segments = useMemo(() => mark(shown, telling(hit.matchedTerms, why?.words ?? []), grams), [shown, hit, why, grams.join()]);
  const words = useMemo(() => foundWords(hit.content, telling(hit.matchedTerms, why?.words ?? []), grams), [hit, why, grams.join()]);
  const address = href(`/documents/${hit.documentId}`, { chunk: hit.chunkId, words });
  return (
    <li class="hit card">
      <header>
        <div class="hit-title">
          <span class="place">{place}</span>
          <h3><a href={address}><Name>{hit.title}</Name></a></h3>
          {move && move.kind !== "same" && <MoveBadge move={move} />}
        </div>
        <Thumbs hit={hit} judgements={judgements} />
      </header>
      <p class="hit-place">
        {hit.uri !== hit.title && <Name>{hit.uri}</Name>}
        {hit.section.length > 0 && <Name>{hit.section.join(" › ")}</Name>}
        {hit.page !== null && <span>{search().page(hit.page, hit.pageEnd)}</span>}
      </p>
      <p class={isWhole || !isLong ? "hit-text" : "hit-text cut"} dir="auto">
        {start > 0 && "… "}
        {segments.map(({ text, isMatch }, at) => (isMatch ? <mark key={at}>{text}</mark> : text))}
      </p>
      {isLong && (
        <button type="button" class="button quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>{isWhole ? search().less : search().more}</button>
      )}
      <dl class="scores">
        <Score name={search().score} value={hit.score} digits={3} isMain />
        {by("vectors") && <Score name={search().byMeaning} value={hit.cosine} rank={hit.vectorRank} digits={3} />}
        {by("words") && <Score name={search().byWords} value={hit.bm25} rank={hit.keywordRank} digits={2} />}
        {hit.rerankScore !== null && <Score name={search().rerankScore} value={hit.rerankScore} digits={3} />}
      </dl>
      {hit.duplicateCount > 0 && <Duplicates hit={hit} words={words} />}
      {why && <Why hit={hit} why={why} place={place} />}
      <div class="actions">
        <a class="open-link" href={address}>{search().open}<Icon name="chevronEnd" /></a>
        <CopyButton text={new URL(href(`/documents/${hit.documentId}`, { chunk: hit.chunkId }), document.baseURI).href} label={search().copyLink} />
      </div>
    </li>
  );
}

function MoveBadge({ move }: { move: Exclude<Move, { kind: "same" }> }) {
  if (move.kind === "new") return <span class="badge active">{search().new}</span>;
  const isUp = move.by > 0;
  return <span class={isUp ? "badge good" : "badge warning"}>{isUp ? `↑ ${search().moved.up(move.by, move.before)}` : `↓ ${search().moved.down(-move.by, move.before)}`}</span>;
}

function Score({ name, value, rank, digits, isMain }: { name: string; value: number | null; rank?: number | null; digits: number; isMain?: boolean }) {
  return (
    <div class={isMain ? "main" : ""}>
      <dt>{name}</dt>
      <dd>
        {value === null ? <span class="missing">{search().notFound}</span> : decimal(value, digits)}
        {rank != null && <small> {search().rank(rank)}</small>}
      </dd>
    </div>
  );
}

function Duplicates({ hit, words }: { hit: SearchHit; words: string }) {
  return (
    <details class="duplicates">
      <summary>{search().duplicates(hit.duplicateCount)}</summary>
      <ul>
        {hit.duplicates.map((same) => (
          <li key={same.chunkId}><a href={href(`/documents/${same.documentId}`, { chunk: same.chunkId, words })}><Name>{same.uri}</Name></a></li>
        ))}
      </ul>
    </details>
  );
}
