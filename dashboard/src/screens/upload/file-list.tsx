/** All files of an upload, grouped by verdict; only the rows in sight are in the page. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { Badge, type Tone } from "../../components/status.tsx";
import { Bytes, Name } from "../../components/text.tsx";
import { errorText } from "../../messages/errors.ts";
import { number } from "../../messages/format.ts";
import { changes } from "./current.ts";
import { upload as messages } from "./messages.ts";
import { STATES, type FileState, type UploadFile } from "./upload-file.ts";
import type { Uploader } from "./uploader.ts";

/** Pixels; upload.css has the same. */
const ROW = 34;
const OVERSCAN = 6;
const TONES: Partial<Record<FileState, Tone>> = {
  accepted: "good", rejected: "bad", failed: "bad", sending: "active", hashing: "active", checking: "active",
};

type Row = UploadFile | { group: FileState };

/** The rows of the list: files of one state, or of all, each state with a heading. */
export function rowsOf(files: readonly UploadFile[], shown: FileState | undefined): Row[] {
  const groups = new Map<FileState, UploadFile[]>(STATES.map((state) => [state, []]));
  for (const file of files) groups.get(file.state)!.push(file);
  if (shown !== undefined) return groups.get(shown)!;
  return STATES.flatMap((state): Row[] => {
    const group = groups.get(state)!;
    return group.length === 0 ? [] : [{ group: state }, ...group];
  });
}

export function FileList({ upload }: { upload: Uploader }) {
  changes.value;
  const [shown, setShown] = useState<FileState>();
  const [from, setFrom] = useState(0);
  const [height, setHeight] = useState(600);
  const frame = useRef<HTMLDivElement>(null);
  const rows = rowsOf(upload.files, shown);
  const first = Math.max(0, Math.min(from, rows.length) - OVERSCAN);
  const visible = rows.slice(first, first + Math.ceil(height / ROW) + 2 * OVERSCAN);
  const onScroll = () => {
    setFrom(Math.floor(frame.current!.scrollTop / ROW));
    setHeight(frame.current!.clientHeight);
  };
  useLayoutEffect(onScroll, []);
  const choose = (state: FileState | undefined) => {
    setShown(state);
    frame.current!.scrollTop = 0;
  };
  return (
    <section aria-label={messages().files}>
      <div class="filters">
        <Choice isOn={shown === undefined} onClick={() => choose(undefined)}>{`${messages().all} ${number(upload.files.length)}`}</Choice>
        {STATES.filter((state) => upload.counts[state] > 0 || state === shown).map((state) => (
          <Choice key={state} isOn={shown === state} onClick={() => choose(state)}>{`${messages().states[state]} ${number(upload.counts[state])}`}</Choice>
        ))}
      </div>
      <div class="upload-list" ref={frame} onScroll={onScroll} tabIndex={0} role="region" aria-label={messages().files}>
        <table aria-rowcount={rows.length + 1}>
          <thead>
            <tr><th scope="col">{messages().file}</th><th scope="col" class="number">{messages().fileSize}</th><th scope="col">{messages().state}</th></tr>
          </thead>
          <tbody>
            <Gap rows={first} />
            {visible.map((row, i) => "group" in row
              ? <tr key={i} class="group"><th scope="rowgroup" colSpan={3}>{`${messages().states[row.group]} (${number(upload.counts[row.group])})`}</th></tr>
              : <FileRow key={i} file={row} index={first + i + 2} />)}
            <Gap rows={rows.length - first - visible.length} />
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Choice({ isOn, onClick, children }: { isOn: boolean; onClick: () => void; children: string }) {
  return <button type="button" class={isOn ? "chip on" : "chip"} aria-pressed={isOn} onClick={onClick}>{children}</button>;
}

/** Stands for rows that are out of sight. */
function Gap({ rows }: { rows: number }) {
  const cell = useRef<HTMLTableCellElement>(null);
  useLayoutEffect(() => {
    cell.current!.style.blockSize = `${rows * ROW}px`;
  }, [rows]);
  return <tr class="gap" aria-hidden="true"><td ref={cell} colSpan={3} /></tr>;
}

function FileRow({ file, index }: { file: UploadFile; index: number }) {
  // Its properties are always the same object, so it would not be drawn again with the list.
  changes.value;
  const reason = file.code === undefined ? undefined : reasonOf(file.code);
  return (
    <tr aria-rowindex={index}>
      <td class="main">{file.sourceId ? <a class="row-link" href={href(`/sources/${file.sourceId}`)}><Name>{file.path}</Name></a> : <Name>{file.path}</Name>}</td>
      <td class="number"><Bytes value={file.size} /></td>
      <td>
        <Badge tone={TONES[file.state] ?? "neutral"}>{messages().states[file.state]}</Badge>
        {reason && <span class="reason" title={file.detail} dir="auto"> {reason} <code>{file.code}</code></span>}
      </td>
    </tr>
  );
}

function reasonOf(code: string): string {
  return code === "unreadable" ? messages().unreadable : errorText(code).means;
}
