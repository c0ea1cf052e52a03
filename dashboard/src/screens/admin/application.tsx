/** One application: its settings and its keys. */

import type { Application, Chunking, SettingsPatch } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { api, may } from "../../app/session.ts";
import { CheckField, Form, SelectField, TextField, fieldError } from "../../components/fields.tsx";
import { Card, ScreenFrame } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { Name } from "../../components/text.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { FurnitureField } from "../bulk/chunking-fields.tsx";
import { overview } from "../overview/messages.ts";
import { Use } from "../overview/use.tsx";
import { Keys } from "./keys.tsx";
import { titles } from "../../messages/titles.ts";
import { admin } from "./messages.ts";
import { Only, numberOf, textOf } from "./shared.tsx";

const REASONS = ["low_coverage", "mass_deletion", "flagged_content"] as const;
type By = "" | NonNullable<Chunking["by"]>;

export function ApplicationView({ params: { id } }: { params: { id: string } }) {
  const found = useResource((signal) => api.get("/api/applications/{id}", { path: { id }, signal }), [id]);
  const { data } = found;
  return (
    <ScreenFrame title={data ? <Name>{data.name}</Name> : titles().application}
      {...(may("operator") && { parent: { title: titles().applications, path: "/applications" } })}>
      <Only role="admin">
        {found.error !== undefined && <ErrorCard error={found.error} onRetry={found.refresh} />}
        {found.isLoading && <Skeleton />}
        {data && (
          <>
            <Keys applicationId={id} />
            <Usage applicationId={id} />
            <Settings key={data.id} application={data} onSaved={found.set} />
          </>
        )}
      </Only>
    </ScreenFrame>
  );
}

/** Also of another application than the one that the operator looks at. */
function Usage({ applicationId }: { applicationId: string }) {
  const usage = useResource((signal) => api.get("/api/usage", { headers: { "X-Application-Id": applicationId }, signal }), [applicationId], { every: 10_000 });
  if (usage.error !== undefined && !usage.data) return <ErrorCard error={usage.error} onRetry={usage.refresh} />;
  return <Card title={overview().usage}>{usage.data ? <Use usage={usage.data} /> : <Skeleton lines={4} />}</Card>;
}

function Settings({ application, onSaved }: { application: Application; onSaved: (application: Application) => void }) {
  const { settings } = application;
  const [name, setName] = useState(application.name);
  const [weight, setWeight] = useState(String(settings.weight));
  const [tokens, setTokens] = useState(textOf(settings.tokensPerDay));
  const [reviews, setReviews] = useState<readonly string[]>(settings.reviews);
  const [size, setSize] = useState(textOf(settings.chunking.size));
  const [overlap, setOverlap] = useState(textOf(settings.chunking.overlap));
  const [by, setBy] = useState<By>(settings.chunking.by ?? "");
  const [leaveOutFurniture, setLeaveOut] = useState(settings.chunking.leaveOutFurniture);
  const isOperator = may("operator");
  const save = async () => {
    const chunking: Required<Chunking> = { size: numberOf(size), overlap: numberOf(overlap), by: by || null, leaveOutFurniture };
    const isCutAnew = (Object.keys(chunking) as (keyof Chunking)[]).some((name) => chunking[name] !== settings.chunking[name]);
    const changes: SettingsPatch = {
      reviews: REASONS.filter((reason) => reviews.includes(reason)),
      ...(isOperator && { weight: Number(weight), tokensPerDay: numberOf(tokens) }),
      // Only if it differs: it chunks everything again.
      ...(isCutAnew && { chunking }),
    };
    onSaved(await api.patch("/api/applications/{id}", { path: { id: application.id }, body: { name, settings: changes } }));
    toast(admin().saved);
  };
  const hint = (text: string) => isOperator ? text : `${text} ${admin().operatorOnly}`;
  return (
    <Card title={admin().settings}>
      <Form submit={admin().save} onSubmit={save} fields={["name", "weight", "tokensPerDay", "size", "overlap", "by"]}>
        {(error) => (
          <>
            <div class="form-grid">
              <TextField label={admin().name} value={name} onValue={setName} error={fieldError(error, "name")} />
              <TextField label={admin().weight} hint={hint(admin().weightHint)} type="number" min={1} value={weight} onValue={setWeight} disabled={!isOperator} error={fieldError(error, "weight")} />
              <TextField label={admin().tokensPerDay} hint={hint(admin().tokensHint)} type="number" min={1} value={tokens} onValue={setTokens} disabled={!isOperator} error={fieldError(error, "tokensPerDay")} />
              <TextField label={admin().chunkSize} hint={admin().chunkHint} type="number" min={1} value={size} onValue={setSize} error={fieldError(error, "size")} />
              <TextField label={admin().overlap} type="number" min={0} value={overlap} onValue={setOverlap} error={fieldError(error, "overlap")} />
              <SelectField label={admin().by} value={by} onValue={setBy} error={fieldError(error, "by")}
                options={(["", "heading", "page", "row", "size"] as const).map((value) => ({ value, label: admin().bys[value]! }))} />
              <FurnitureField value={leaveOutFurniture} onValue={setLeaveOut} from={admin().bys[""]} />
            </div>
            <fieldset>
              <legend>{admin().reviews}</legend>
              {REASONS.map((reason) => (
                <CheckField key={reason} label={admin().reviewReasons[reason]} checked={reviews.includes(reason)}
                  onValue={(isOn) => setReviews(isOn ? [...reviews, reason] : reviews.filter((other) => other !== reason))} />
              ))}
            </fieldset>
          </>
        )}
      </Form>
    </Card>
  );
}
