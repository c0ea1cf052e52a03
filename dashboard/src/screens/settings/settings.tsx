/** Whether the service works, and for the operator what it runs on and how it is configured. */

import type { InstallationView } from "@rag-ingest/client";
import { api, may } from "../../app/session.ts";
import { Card, KeyValues, ScreenFrame } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { bytes, number } from "../../messages/format.ts";
import { titles } from "../../messages/titles.ts";
import { EffectiveSettings } from "./effective.tsx";
import { Health } from "./health-card.tsx";
import { settings } from "./messages.ts";

export function Settings() {
  return (
    <ScreenFrame title={titles().settings}>
      <Health />
      {may("operator") ? <Installation /> : <p class="hint">{settings().operatorOnly}</p>}
    </ScreenFrame>
  );
}

function Installation() {
  const { data, error, refresh } = useResource((signal) => api.get("/api/settings", { signal }), []);
  if (data === undefined) return error === undefined ? <Skeleton /> : <ErrorCard error={error} onRetry={refresh} />;
  return (
    <>
      <Facts installation={data} />
      <EffectiveSettings settings={data.settings} />
    </>
  );
}

function Facts({ installation: { version, pythonVersion, embedding, ocr, storage, database } }: { installation: InstallationView }) {
  const { migration, expectedMigration } = database;
  return (
    <Card title={settings().installation}>
      <KeyValues items={[
        [settings().version, version],
        [settings().python, pythonVersion],
        [settings().postgres, database.isEmbedded ? settings().embedded(database.version) : database.version],
        [settings().pgvector, database.pgvectorVersion],
        [settings().databaseSize, database.sizeBytes === null ? null : bytes(database.sizeBytes)],
        [settings().migration, migration === expectedMigration ? number(migration) : settings().migrationBehind(migration ?? 0, expectedMigration)],
        [settings().model, settings().modelText(embedding.provider, embedding.model)],
        [settings().dimensions, number(embedding.dimension)],
        [settings().longestText, settings().tokens(number(embedding.maxTokens))],
        [settings().chunks, settings().chunksText(number(embedding.chunkTokens), number(embedding.chunkOverlap))],
        [settings().ocr, ocr === null ? settings().ocrOff : ocr.engine],
        [settings().languages, ocr === null ? null : ocr.languages.join(", ") || settings().allLanguages],
        [settings().storage, <>{settings().storageKinds[storage.kind]} <small><code>{storage.location}</code></small></>],
        [settings().used, bytes(storage.usedBytes)],
        [settings().free, storage.freeBytes === null ? null : <>{bytes(storage.freeBytes)} <small>{settings().reserve(bytes(storage.reserveBytes))}</small></>],
      ]} />
    </Card>
  );
}
