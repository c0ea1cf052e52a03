/** Asks whether to fetch a page or site again now. */

import { useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { CheckField } from "../../components/fields.tsx";
import { toast } from "../../components/toasts.tsx";
import { crawl } from "./messages.ts";

export function FetchAgain({ id, onDone, onClose }: { id: string; onDone: () => void; onClose: () => void }) {
  const [acceptLosses, setAccept] = useState(false);
  const fetch = async () => {
    await api.post("/api/knowledge-sources/{id}/rescrape", { path: { id }, body: { acceptLosses } });
    toast(crawl().fetching);
    onDone();
  };
  return (
    <ConfirmDialog title={crawl().fetchTitle} action={crawl().fetchAgain} onConfirm={fetch} onClose={onClose}>
      <p>{crawl().fetchText}</p>
      <CheckField label={crawl().acceptLosses} checked={acceptLosses} onValue={setAccept} />
    </ConfirmDialog>
  );
}
