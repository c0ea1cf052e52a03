/** Name, metadata, chunk settings and schedule of a source. Viewers see them, but cannot change them. */

import type { Chunking, Source } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { api, may } from "../../app/session.ts";
import { fieldError, Form, SelectField, TextArea, TextField } from "../../components/fields.tsx";
import { Card } from "../../components/layout.tsx";
import { Time } from "../../components/text.tsx";
import { toast } from "../../components/toasts.tsx";
import { number } from "../../messages/format.ts";
import { ChunkingFields, type ChunkingDraft } from "../bulk/chunking-fields.tsx";
import { bulk } from "../bulk/messages.ts";
import { formatMetadata, parseMetadata, WrongLine } from "../bulk/metadata-lines.ts";
import { sources } from "./messages.ts";
import { scheduleText } from "./schedule-text.ts";

interface Props {
  source: Source;
  onChange: () => void;
}

export function SourceSettings(props: Props) {
  return (
    <div class="cards">
      <Identity {...props} />
      <ChunkSettings {...props} />
      {props.source.type !== "file" && <Schedule {...props} />}
    </div>
  );
}

function save(source: Source, body: object, onChange: () => void): Promise<void> {
  return api.patch("/api/knowledge-sources/{id}", { path: { id: source.id }, body }).then(() => {
    toast(sources().saved);
    onChange();
  });
}

function Identity({ source, onChange }: Props) {
  const [name, setName] = useState(source.name);
  const [lines, setLines] = useState(formatMetadata(source.metadata));
  const [wrong, setWrong] = useState<string>();
  const submit = async () => {
    try {
      const given = Object.entries(parseMetadata(lines)).filter(([, value]) => value !== null);
      setWrong(undefined);
      await save(source, { name, metadata: Object.fromEntries(given) }, onChange);
    } catch (error) {
      if (!(error instanceof WrongLine)) throw error;
      setWrong(sources().metadataWrong(error.line));
    }
  };
  if (!may("editor")) return null;
  return (
    <Card title={sources().identity}>
      <Form submit={sources().save} onSubmit={submit} fields={["name", "metadata"]}>
        {(error) => (
          <>
            <TextField label={sources().nameLabel} value={name} onValue={setName} maxLength={1000} error={fieldError(error, "name")} />
            <TextArea label={sources().metadata} hint={sources().metadataHint} isCode value={lines} onValue={setLines} error={wrong ?? fieldError(error, "metadata")} />
          </>
        )}
      </Form>
    </Card>
  );
}

function ChunkSettings({ source, onChange }: Props) {
  const own = Object.fromEntries(Object.entries(source.chunking).filter(([, value]) => value !== null)) as ChunkingDraft;
  const [draft, setDraft] = useState<ChunkingDraft>(own);
  const { size, overlap, by, leaveOutFurniture } = source.effectiveChunking;
  const { leave, keep } = bulk().furnitures;
  const submit = () => save(source, { chunking: Object.keys(draft).length ? (draft as Chunking) : null }, onChange);
  return (
    <Card title={sources().chunking}>
      <p>
        {sources().effective(number(size), number(overlap), bulk().ends[by] ?? by)}
        {source.type === "site" && ` · ${bulk().furniture}: ${leaveOutFurniture ? leave : keep}`}
      </p>
      {may("editor") && (
        <Form submit={sources().save} onSubmit={submit} fields={["size", "overlap"]}>
          {(error) => (
            <>
              <ChunkingFields value={draft} onValue={setDraft} error={error} inherited={source.effectiveChunking} hasSites={source.type === "site"} />
              <p class="hint">{sources().chunkingHint}</p>
            </>
          )}
        </Form>
      )}
    </Card>
  );
}

function Schedule({ source, onChange }: Props) {
  const [isOwn, setOwn] = useState(source.rescrape !== null);
  const [cron, setCron] = useState(source.rescrape?.cron ?? "0 6 * * 1");
  const [timezone, setTimezone] = useState(source.rescrape?.timezone ?? (Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"));
  const submit = () => save(source, { rescrape: isOwn ? { cron: cron.trim(), timezone } : null }, onChange);
  return (
    <Card title={sources().schedule}>
      <p>{source.rescrape ? scheduleText(source.rescrape.cron, source.rescrape.timezone) : sources().nightly}</p>
      {source.nextRescrapeAt && <p class="hint">{sources().nextTime} <Time value={source.nextRescrapeAt} /></p>}
      {may("editor") && (
        <Form submit={sources().save} onSubmit={submit} fields={["cron", "timezone"]}>
          {(error) => (
            <>
              <SelectField label={sources().schedule} value={isOwn ? "own" : "nightly"} onValue={(value) => setOwn(value === "own")}
                options={[{ value: "nightly", label: sources().nightly }, { value: "own", label: sources().ownSchedule }]} />
              {isOwn && (
                <div class="field-row">
                  <TextField label={sources().cron} hint={`${sources().cronHint} · ${scheduleText(cron, timezone)}`} dir="ltr" value={cron} onValue={setCron} error={fieldError(error, "cron")} />
                  <TextField label={sources().timezone} dir="ltr" value={timezone} onValue={setTimezone} error={fieldError(error, "timezone")} />
                </div>
              )}
            </>
          )}
        </Form>
      )}
    </Card>
  );
}
