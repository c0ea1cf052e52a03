/** Add a page or a site: what, how far, when again; and what a crawl would meet, before it starts. */

import type { CheckedUrl, CrawlRequest, ScheduleView } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { Form, Problem, SelectField, TextArea, TextField, fieldError } from "../../components/fields.tsx";
import { Card, ScreenFrame } from "../../components/layout.tsx";
import { EmptyState } from "../../components/states.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { titles } from "../../messages/titles.ts";
import { FurnitureField } from "../bulk/chunking-fields.tsx";
import { readMetadata } from "../upload/options.ts";
import { upload } from "../upload/messages.ts";
import { CheckResult } from "./check-result.tsx";
import { crawl } from "./messages.ts";
import { MOST_PATTERNS, isWanted, pathOf, patternProblem, patternsOf } from "./patterns.ts";
import { ScheduleField } from "./schedule.tsx";

const START = {
  url: "", what: "site" as "site" | "page", limit: "1000", maxDepth: "", include: "", exclude: "",
  provider: "" as "" | "builtin" | "firecrawl", metadata: "", collectionId: "",
  leaveOutFurniture: null as boolean | null,
};
type Fields = typeof START;

export function CrawlForm() {
  return (
    <ScreenFrame title={titles().crawl} lead={crawl().lead}>
      {may("editor") ? <Editor /> : <EmptyState icon="crawl" title={crawl().needsEditor}><p>{crawl().needsEditorText}</p></EmptyState>}
    </ScreenFrame>
  );
}

function requestOf(fields: Fields): CrawlRequest {
  if (fields.what === "page") return { url: fields.url };
  return {
    url: fields.url,
    crawlLinks: true,
    limit: fields.limit === "" ? null : Number(fields.limit),
    maxDepth: fields.maxDepth === "" ? null : Number(fields.maxDepth),
    includePaths: patternsOf(fields.include),
    excludePaths: patternsOf(fields.exclude),
    provider: fields.provider || null,
  };
}

function Editor() {
  const [fields, setFields] = useState(START);
  const [schedule, setSchedule] = useState<ScheduleView | null>(null);
  const [checked, setChecked] = useState<{ request: string; answer?: CheckedUrl; error?: unknown }>();
  const collections = useResource((signal) => api.get("/api/collections", { query: { limit: 200 }, signal }), []);
  const isSite = fields.what === "site";
  const set = <K extends keyof Fields>(name: K) => (value: Fields[K]) => setFields({ ...fields, [name]: value });
  const metadata = readMetadata(fields.metadata);
  const problems = { include: patternError(fields.include), exclude: patternError(fields.exclude) };
  const isWrong = typeof metadata === "string" || (isSite && Boolean(problems.include || problems.exclude)) || fields.url.trim() === "";
  const request = requestOf(fields);
  const [isChecking, setChecking] = useState(false);
  const check = async () => {
    setChecking(true);
    const key = JSON.stringify(request);
    try {
      setChecked({ request: key, answer: await api.post("/upload/url/check", { body: request }) });
    } catch (error) {
      setChecked({ request: key, error });
    }
    setChecking(false);
  };
  const start = async () => {
    if (isWrong) return;
    setChecked(undefined);
    const answer = await api.post("/upload/url", {
      body: {
        ...request,
        ...(schedule && { rescrape: schedule }),
        ...(typeof metadata === "object" && { metadata }),
        ...(fields.collectionId && { collectionId: fields.collectionId }),
        ...(isSite && fields.leaveOutFurniture !== null && { chunking: { leaveOutFurniture: fields.leaveOutFurniture } }),
      },
    });
    toast(crawl().started);
    navigate(`/sites/${answer.knowledgeSourceId}`);
  };
  const now = checked?.request === JSON.stringify(request) ? checked : undefined;
  return (
    <>
      <Card>
        <Form submit={crawl().start} onSubmit={start} fields={["url", "limit", "maxDepth", "includePaths", "excludePaths", "provider"]}
          extra={<Button icon="search" isBusy={isChecking} disabled={isWrong} onClick={() => void check()}>{crawl().check}</Button>}>
          {(error) => (
            <>
              <div class="form-grid">
                <TextField label={crawl().url} hint={crawl().urlHint} required autocomplete="off" placeholder="docs.example.com" value={fields.url}
                  error={fieldError(error, "url")} onValue={set("url")} />
                <SelectField label={crawl().what} value={fields.what} onValue={set("what")}
                  options={[{ value: "site", label: crawl().whats.site }, { value: "page", label: crawl().whats.page }]} />
              </div>
              {isSite && (
                <details>
                  <summary>{crawl().limits}</summary>
                  <div class="form-grid">
                    <TextField label={crawl().limit} type="number" min={1} max={100_000} value={fields.limit} error={fieldError(error, "limit")} onValue={set("limit")} />
                    <TextField label={crawl().depth} hint={crawl().depthHint} type="number" min={0} max={100} value={fields.maxDepth} error={fieldError(error, "maxDepth")} onValue={set("maxDepth")} />
                    <SelectField label={crawl().provider} value={fields.provider} error={fieldError(error, "provider")} onValue={set("provider")}
                      options={(["", "builtin", "firecrawl"] as const).map((value) => ({ value, label: crawl().providers[value] }))} />
                    <TextArea label={crawl().include} hint={crawl().patternHint} isCode value={fields.include} error={problems.include ?? fieldError(error, "includePaths")} onValue={set("include")} />
                    <TextArea label={crawl().exclude} hint={crawl().patternHint} isCode value={fields.exclude} error={problems.exclude ?? fieldError(error, "excludePaths")} onValue={set("exclude")} />
                    <TryPath include={patternsOf(fields.include)} exclude={patternsOf(fields.exclude)} />
                    <FurnitureField value={fields.leaveOutFurniture} onValue={set("leaveOutFurniture")} />
                  </div>
                </details>
              )}
              <ScheduleField value={schedule} onValue={setSchedule} />
              <div class="form-grid">
                <SelectField label={crawl().collection} value={fields.collectionId} onValue={set("collectionId")}
                  options={[{ value: "", label: crawl().noCollection }, ...(collections.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))]} />
                <TextArea label={crawl().metadata} hint={crawl().metadataHint} isCode rows={2} value={fields.metadata} onValue={set("metadata")}
                  error={typeof metadata === "string" ? upload().problems[metadata] : undefined} />
              </div>
            </>
          )}
        </Form>
      </Card>
      {isChecking && <p role="status">{crawl().checking}</p>}
      {now?.error !== undefined && <Problem error={now.error} />}
      {now?.answer && <CheckResult answer={now.answer} limit={isSite ? Number(fields.limit) || 1000 : undefined} />}
    </>
  );
}

/** The first pattern that is wrong, and why. */
function patternError(text: string): string | undefined {
  const patterns = patternsOf(text);
  const words = crawl().patternProblems;
  if (patterns.length > MOST_PATTERNS) return words.tooMany;
  for (const pattern of patterns) {
    const problem = patternProblem(pattern);
    if (problem !== undefined) return `${pattern.slice(0, 60)} ${words[problem]}`;
  }
  return undefined;
}

function TryPath({ include, exclude }: { include: readonly string[]; exclude: readonly string[] }) {
  const [path, setPath] = useState("");
  const verdict = path === "" ? undefined : isWanted(pathOf(path), include, exclude);
  return (
    <div>
      <TextField label={crawl().tryPath} hint={crawl().tryHint} placeholder="/docs/page" value={path} onValue={setPath} />
      {verdict !== undefined && <p role="status">{verdict ? crawl().wanted : crawl().unwanted}</p>}
    </div>
  );
}
