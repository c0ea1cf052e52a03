import type { SearchRequest } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { SelectField } from "../../components/fields.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CodeBlock } from "../../components/layout.tsx";
import { codeOf, LANGUAGES, type CodeLanguage } from "./copy-as.ts";
import { search } from "./messages.ts";

/** The search as code that can be run elsewhere. */
export function CodeDialog({ request, onClose }: { request: SearchRequest; onClose: () => void }) {
  const [language, setLanguage] = useState<CodeLanguage>("curl");
  const name = search().code[language]!;
  return (
    <Dialog title={search().copyAs} onClose={onClose} isWide>
      <SelectField label={search().codeLanguage} value={language} options={LANGUAGES.map((value) => ({ value, label: search().code[value]! }))} onValue={setLanguage} hint={search().codeKey} />
      <CodeBlock text={codeOf(language, api.url("/").href, request)} label={search().codeOf(name)} />
    </Dialog>
  );
}
