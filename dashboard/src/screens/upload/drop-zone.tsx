import { useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { number } from "../../messages/format.ts";
import { fromDrop, fromInput, type Dropped } from "./files.ts";
import { upload } from "./messages.ts";

/** Takes files and folders, dropped or chosen. */
export function DropZone({ onFiles }: { onFiles: (dropped: Dropped) => void }) {
  const [isOver, setOver] = useState(false);
  const [found, setFound] = useState<number>();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const choose = async (input: HTMLInputElement) => onFiles({ files: await fromInput(input.files!, setFound), skipped: [] });
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    setFound(0);
    onFiles(await fromDrop(event.dataTransfer!, setFound));
    setFound(undefined);
  };
  return (
    <div class={isOver ? "drop-zone over" : "drop-zone"} onDrop={drop} onDragLeave={() => setOver(false)}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}>
      <Icon name="upload" />
      <h2>{upload().drop}</h2>
      <p>{found === undefined ? upload().dropHint : upload().reading(found, number(found))}</p>
      <div class="actions">
        <Button kind="primary" icon="site" onClick={() => folder.current!.click()}>{upload().chooseFolder}</Button>
        <Button icon="file" onClick={() => files.current!.click()}>{upload().chooseFiles}</Button>
      </div>
      <input ref={files} type="file" multiple hidden aria-label={upload().chooseFiles} onChange={(event) => void choose(event.currentTarget)} />
      <input ref={folder} type="file" multiple hidden {...{ webkitdirectory: true }} aria-label={upload().chooseFolder} onChange={(event) => void choose(event.currentTarget)} />
    </div>
  );
}
