/** Why a hit is where it is: what each word adds, both halves of its score, its places. */

import type { HitExplanation, SearchHit, WordMatch } from "@rag-ingest/client";
import { decimal, number } from "../../messages/format.ts";
import { search } from "./messages.ts";

export function Why({ hit, why, place }: { hit: SearchHit; why: HitExplanation; place: number }) {
  const hasWeights = why.words.some(({ weight }) => weight !== null);
  const total = [...why.words.map(added), ...why.pairs.map(({ bm25 }) => bm25)].reduce((sum, part) => sum + part, 0);
  return (
    <details class="why">
      <summary>{search().why}</summary>
      {why.byVectors !== null && why.byWords !== null && (
        <p>{search().fusion(decimal(why.byVectors + why.byWords, 3), decimal(why.byVectors, 3), decimal(why.byWords, 3))}</p>
      )}
      {why.firstPlace !== place && <p>{search().places(why.firstPlace, place)}</p>}
      {why.words.length === 0 ? hit.cosine !== null && <p>{search().noWords}</p> : (
        <div class="table-frame is-wide" tabIndex={0}>
          <table>
            <caption class="visually-hidden">{search().wordsCaption}</caption>
            <thead>
              <tr>
                <th scope="col">{search().word}</th>
                {hasWeights && <th scope="col" class="number">{search().weight}</th>}
                {hasWeights && <th scope="col" class="number">{search().chunksWith}</th>}
                <th scope="col" class="number">{search().inTitle}</th>
                <th scope="col" class="number">{search().inHeadings}</th>
                <th scope="col" class="number">{search().inBody}</th>
                <th scope="col" class="number">{search().otherSpellings}</th>
                <th scope="col" class="number">{search().adds}</th>
              </tr>
            </thead>
            <tbody>
              {why.words.map((word) => (
                <tr key={word.word}>
                  <th scope="row"><bdi>{word.word}</bdi>{word.grams.length > 0 && <small> {search().byGrams(word.grams.join(" "))}</small>}</th>
                  {hasWeights && <td class="number">{decimal(word.weight!, 2)}</td>}
                  {hasWeights && <td class="number">{number(Math.round(word.chunks!))}</td>}
                  <Times n={word.title} />
                  <Times n={word.headings} />
                  <Times n={word.body} />
                  <Times n={word.otherSpellings} />
                  <td class="number">{decimal(added(word), 2)}</td>
                </tr>
              ))}
              {why.pairs.map(({ words: [first, second], times, bm25 }) => (
                <tr key={`${first} ${second}`}>
                  <th scope="row" colSpan={hasWeights ? 7 : 5}><bdi>{search().pair(first!, second!)}</bdi>{times > 1 && ` × ${number(times)}`}</th>
                  <td class="number">{decimal(bm25, 2)}</td>
                </tr>
              ))}
              <tr class="sum">
                <th scope="row" colSpan={hasWeights ? 7 : 5}>{search().sum}</th>
                <td class="number">{decimal(total, 2)}</td>
              </tr>
            </tbody>
          </table>
        </div>
      )}
      {why.sharedSentence && <p>{search().sharedSentence} <q dir="auto">{why.sharedSentence}</q></p>}
    </details>
  );
}

function added(word: WordMatch): number {
  return word.bm25 + word.bm25ByGrams;
}

function Times({ n }: { n: number }) {
  return <td class="number">{n > 0 ? number(n) : <span class="missing">–</span>}</td>;
}
