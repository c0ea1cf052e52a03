/** The files that a person chose or dropped, with their paths below the chosen folder. */

export interface LocalFile {
  path: string;
  file: File;
  /** Of `file`, which asks the disk each time. */
  size: number;
}

/** Milliseconds of work between two breaks: the size of each file is a look at the disk. */
const AT_ONCE = 20;

/**
 * The files of an input. For a folder, the browser itself has blocked the page before: it makes the
 * list in one task, 0.2 ms a file. A dropped folder it reads piece by piece.
 */
export async function fromInput(list: FileList, onCount?: (count: number) => void): Promise<LocalFile[]> {
  const files: LocalFile[] = [];
  let breakAt = performance.now() + AT_ONCE;
  for (let i = 0; i < list.length; i++) {
    const file = list[i]!;
    files.push({ path: file.webkitRelativePath || file.name, file, size: file.size });
    if (performance.now() < breakAt) continue;
    onCount?.(files.length);
    await new Promise((resolve) => setTimeout(resolve));
    breakAt = performance.now() + AT_ONCE;
  }
  return files;
}

/**
 * The files of a drop, folders included. Call it in the handler of the event: what was dropped is
 * gone once that returns. `skipped` are paths that cannot be read.
 */
export function fromDrop(transfer: DataTransfer, onCount?: (count: number) => void): Promise<Dropped> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return walk(entries, onCount);
}

export interface Dropped {
  files: LocalFile[];
  skipped: string[];
}

export async function walk(entries: readonly FileSystemEntry[], onCount?: (count: number) => void): Promise<Dropped> {
  const files: LocalFile[] = [];
  const skipped: string[] = [];
  const waiting = [...entries].reverse();
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const path = entry.fullPath.replace(/^\//, "");
    try {
      if (entry.isDirectory) waiting.push(...(await childrenOf(entry as FileSystemDirectoryEntry)).reverse());
      else {
        const file = await fileOf(entry as FileSystemFileEntry);
        files.push({ path, file, size: file.size });
      }
    } catch {
      skipped.push(path);
    }
    if (files.length % 100 === 0) onCount?.(files.length);
  }
  return { files, skipped };
}

/** `readEntries` answers about 100 entries a time, and none at the end. */
async function childrenOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return children;
    children.push(...some);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** The common first folder, else the first name: what the upload is called. */
export function nameOf(files: readonly LocalFile[]): string {
  return files[0]?.path.split("/")[0] ?? "";
}
