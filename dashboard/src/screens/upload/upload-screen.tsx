/** Upload: choose files, say what holds for all of them, follow them to the end of their processing. */

import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { may, me } from "../../app/session.ts";
import { forget } from "../../app/storage.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Card, ScreenFrame } from "../../components/layout.tsx";
import { EmptyState } from "../../components/states.tsx";
import { bytes, number, relative } from "../../messages/format.ts";
import { titles } from "../../messages/titles.ts";
import { current, interrupted, startUpload } from "./current.ts";
import { DropZone } from "./drop-zone.tsx";
import type { Dropped } from "./files.ts";
import { upload } from "./messages.ts";
import { NO_OPTIONS, readOptions } from "./options.ts";
import { OptionForm } from "./option-form.tsx";
import { Running } from "./running.tsx";

export function UploadScreen() {
  const running = current.value;
  return (
    <ScreenFrame title={titles().upload} lead={upload().lead}>
      {!may("editor")
        ? <EmptyState icon="upload" title={upload().viewer}><p>{upload().viewerText}</p></EmptyState>
        : running ? <Running upload={running} /> : <Choose />}
    </ScreenFrame>
  );
}

function Choose() {
  const [chosen, setChosen] = useState<Dropped>();
  const [fields, setFields] = useState(NO_OPTIONS);
  const applicationId = me().application?.id ?? "";
  const read = readOptions(fields);
  const problems = "problems" in read ? read.problems : {};
  if (chosen === undefined || chosen.files.length === 0) {
    return (
      <>
        <InterruptedNote applicationId={applicationId} />
        {chosen && <p role="alert">{upload().nothing}</p>}
        <DropZone onFiles={setChosen} />
      </>
    );
  }
  const { files, skipped } = chosen;
  const count = number(files.length);
  const size = bytes(files.reduce((sum, file) => sum + file.size, 0));
  return (
    <>
      <InterruptedNote applicationId={applicationId} />
      <Card title={upload().chosenOf(upload().chosen(files.length, count), size)}
        actions={<Button kind="quiet" onClick={() => setChosen(undefined)}>{upload().chooseOther}</Button>}>
        {skipped.length > 0 && (
          <div role="alert">
            <p>{upload().skipped(skipped.length)}</p>
            <ul>{skipped.slice(0, 10).map((path) => <li key={path} dir="auto">{path}</li>)}</ul>
          </div>
        )}
        <OptionForm fields={fields} problems={problems} onChange={setFields} />
        <div class="actions">
          <Button kind="primary" icon="upload" disabled={"problems" in read}
            onClick={() => "options" in read && startUpload(files, read.options, applicationId)}>
            {upload().start(files.length, count)}
          </Button>
        </div>
      </Card>
    </>
  );
}

function InterruptedNote({ applicationId }: { applicationId: string }) {
  const [isGone, setGone] = useState(false);
  const before = interrupted(applicationId);
  if (!before || isGone) return null;
  const drop = () => {
    forget(`upload:${applicationId}`);
    setGone(true);
  };
  return (
    <Card title={upload().interrupted(before.name, relative(new Date(before.startedAt)))}>
      <p>{upload().interruptedText}</p>
      <div class="actions">
        <LinkButton href={href(`/batches/${before.batchId}`)}>{upload().showBatch}</LinkButton>
        <Button kind="quiet" onClick={drop}>{upload().forget}</Button>
      </div>
    </Card>
  );
}
