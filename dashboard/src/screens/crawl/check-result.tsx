import type { CheckedUrl } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { LinkButton } from "../../components/button.tsx";
import { Card, KeyValues } from "../../components/layout.tsx";
import { ErrorCard } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Name } from "../../components/text.tsx";
import { duration, number } from "../../messages/format.ts";
import { crawl } from "./messages.ts";

/** What the dry run of an address has found. `limit`: the most pages of a site. */
export function CheckResult({ answer, limit }: { answer: CheckedUrl; limit: number | undefined }) {
  const { refusal, robots, sitemap, redirects, finalUrl } = answer;
  const delay = robots?.crawlDelaySeconds;
  return (
    <Card title={crawl().checked}>
      {refusal
        ? <ErrorCard error={{ code: refusal.code, detail: refusal.message }} />
        : <p><Badge tone="good" icon="check">{crawl().readable}</Badge></p>}
      {answer.knowledgeSourceId !== null && (
        <p>{crawl().known} <LinkButton kind="quiet" href={href(`/sites/${answer.knowledgeSourceId}`)}>{crawl().openSource}</LinkButton></p>
      )}
      {!answer.isIndexable && <p>{crawl().notIndexable}</p>}
      <KeyValues items={[
        [crawl().pageTitle, answer.title && <Name>{answer.title}</Name>],
        [crawl().type, answer.mediaType],
        [crawl().status, answer.httpStatus],
        [crawl().finalUrl, finalUrl && finalUrl !== answer.url ? <Name>{finalUrl}</Name> : null],
        [crawl().redirects, redirects.length > 0 ? redirects.map((url) => <div key={url}><Name>{url}</Name></div>) : null],
        [crawl().robots, robots && (
          <>
            {crawl().robotsSays[robots.verdict]}
            {delay != null && `, ${crawl().crawlDelay(duration(delay * 1000))}`}
          </>
        )],
        [crawl().sitemap, sitemap && (
          <>
            {sitemapWords(sitemap.pageCount, sitemap.isComplete)}
            {limit !== undefined && sitemap.pageCount >= limit && <div>{crawl().overLimit(number(limit))}</div>}
          </>
        )],
        [crawl().examples, sitemap && sitemap.examples.length > 0 ? sitemap.examples.map((url) => <div key={url}><Name>{url}</Name></div>) : null],
        [crawl().skipped, sitemap && Object.keys(sitemap.skipped).length > 0 ? skippedWords(sitemap.skipped) : null],
      ]} />
    </Card>
  );
}

function sitemapWords(count: number, isComplete: boolean): string {
  if (!isComplete) return crawl().sitemapMore(number(count));
  return count === 0 ? crawl().noSitemap : crawl().sitemapPages(count, number(count));
}

/** `12 on other sites, 3 over the limit` */
export function skippedWords(skipped: Readonly<Record<string, number>>): string {
  return Object.entries(skipped).map(([reason, count]) => `${number(count)} ${crawl().skips[reason] ?? reason}`).join(", ");
}
