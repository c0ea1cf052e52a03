/** Sends a file in the place of a stored one: under its path, whatever its own name is. */

import { ApiError, type Source } from "@rag-ingest/client";
import { useRef, useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { sources } from "./messages.ts";

export function AnotherVersion({ source, onChange }: { source: Source; onChange: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const label = sources().toDo.upload!;
  const choose = async (chosen: HTMLInputElement) => {
    const file = chosen.files![0]!;
    chosen.value = "";
    setBusy(true);
    await attempt(() => send(source.uri, file));
    setBusy(false);
    onChange();
  };
  return (
    <>
      <Button kind="primary" icon="upload" isBusy={isBusy} onClick={() => input.current!.click()}>{label}</Button>
      <input ref={input} type="file" hidden aria-label={label} onChange={(event) => void choose(event.currentTarget)} />
    </>
  );
}

async function send(path: string, file: File): Promise<void> {
  const form = new FormData();
  form.append("files", file, path);
  try {
    const { files } = await api.post("/upload/documents", { body: form });
    toast(files[0]!.verdict === "unchanged" ? sources().sameVersion : sources().versionSent);
  } catch (error) {
    const [refused] = (error instanceof ApiError && (error.problem.files as { code: string; detail: string | null }[] | undefined)) || [];
    throw refused ?? error;
  }
}
