/** An upload that runs, or has ended: how far it is, what it waits for, and every file. */

import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Card } from "../../components/layout.tsx";
import { ErrorCard } from "../../components/states.tsx";
import { ProgressBar } from "../../components/status.tsx";
import { announce } from "../../live/announcer.ts";
import { bytes, duration, number } from "../../messages/format.ts";
import { BatchReport } from "./batch-report.tsx";
import { changes, endUpload } from "./current.ts";
import { FileList } from "./file-list.tsx";
import { upload as messages } from "./messages.ts";
import type { Uploader } from "./uploader.ts";

export function Running({ upload }: { upload: Uploader }) {
  changes.value;
  const [isStopping, setStopping] = useState(false);
  const { counts, phase } = upload;
  const left = counts.waiting + counts.hashing + counts.checking + counts.queued + counts.sending;
  const isOpen = phase === "running" || phase === "paused";
  useEffect(() => announce(messages().phases[phase]), [phase]);
  return (
    <>
      <Card title={messages().phases[phase]} actions={(
        <>
          {phase === "running" && <Button icon="pause" onClick={() => upload.pause()}>{messages().pause}</Button>}
          {phase === "paused" && <Button kind="primary" icon="play" onClick={() => upload.resume()}>{messages().resume}</Button>}
          {isOpen && <Button icon="cross" onClick={() => setStopping(true)}>{messages().stop}</Button>}
          {!isOpen && <Button icon="upload" onClick={endUpload}>{messages().another}</Button>}
        </>
      )}>
        <div class="upload-progress">
          <ProgressBar label={messages().progress} value={progressOf(upload)} />
          <span>{messages().sent(number(upload.files.length - left), number(upload.files.length))}</span>
          <span>{messages().sent(bytes(upload.sentBytes), bytes(upload.totalBytes))}</span>
        </div>
        {upload.problem !== undefined && isOpen && (
          <ErrorCard error={upload.problem}>
            <Wait upload={upload} />
          </ErrorCard>
        )}
        {counts.failed > 0 && phase !== "cancelled" && (
          <div class="actions">
            <Button icon="retry" onClick={() => upload.retryFailed()}>{messages().retry(counts.failed, number(counts.failed))}</Button>
          </div>
        )}
      </Card>
      {upload.batchId !== undefined && <BatchReport id={upload.batchId} isSending={phase === "running"} />}
      <FileList upload={upload} />
      {isStopping && (
        <ConfirmDialog title={messages().stopTitle(left, number(left))} action={messages().stop} onClose={() => setStopping(false)}
          onConfirm={async () => upload.cancel()}>
          <p>{messages().stopText}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** By bytes, so that one large file counts; empty files do not end it early. */
function progressOf({ sentBytes, totalBytes, phase }: Uploader): number {
  if (phase === "done") return 100;
  return totalBytes === 0 ? 0 : Math.min(99, Math.floor((sentBytes / totalBytes) * 100));
}

function Wait({ upload }: { upload: Uploader }) {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (upload.retryAt === undefined) return null;
  const seconds = Math.max(0, Math.ceil((upload.retryAt - now) / 1000));
  return (
    <>
      <span>{messages().waiting(duration(seconds * 1000))}</span>
      <Button icon="retry" onClick={() => upload.waitNoLonger()}>{messages().tryNow}</Button>
    </>
  );
}
