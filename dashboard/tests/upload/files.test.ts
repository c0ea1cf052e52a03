import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { fromInput, nameOf, walk } from "../../src/screens/upload/files.ts";

function file(fullPath: string, fails = false): FileSystemEntry {
  return {
    isDirectory: false,
    fullPath,
    file: (resolve: (file: File) => void, reject: (error: Error) => void) =>
      fails ? reject(new Error("gone")) : resolve(new File(["x"], fullPath)),
  } as unknown as FileSystemEntry;
}

/** Answers 100 entries a time, as browsers do. */
function folder(fullPath: string, children: FileSystemEntry[]): FileSystemEntry {
  return {
    isDirectory: true,
    fullPath,
    createReader() {
      let at = 0;
      return {
        readEntries(resolve: (entries: FileSystemEntry[]) => void) {
          resolve(children.slice(at, (at += 100)));
        },
      };
    },
  } as unknown as FileSystemEntry;
}

test("a dropped folder has all its files, however many a read answers", async () => {
  const many = Array.from({ length: 350 }, (_, i) => file(`/top/many/${i}.txt`));
  const { files } = await walk([folder("/top", [file("/top/a.txt"), folder("/top/many", many), file("/top/z.txt")])]);

  assert.equal(files.length, 352);
  assert.deepEqual([files[0]!.path, files[1]!.path, files[351]!.path], ["top/a.txt", "top/many/0.txt", "top/z.txt"]);
  assert.equal(nameOf(files), "top");
});

test("a file that cannot be read is told, and stops no other", async () => {
  const { files, skipped } = await walk([file("/a"), file("/b", true), file("/c")]);

  assert.deepEqual(files.map(({ path }) => path), ["a", "c"]);
  assert.deepEqual(skipped, ["b"]);
});

test("sizes of chosen files are read in pieces of 20 milliseconds", async () => {
  let now = 0;
  const clock = mock.method(performance, "now", () => now);
  const file = { name: "a", webkitRelativePath: "", get size() { return (now += 1); } };
  const breaks: number[] = [];
  const files = await fromInput(new Array(100).fill(file) as unknown as FileList, (count) => breaks.push(count));
  clock.mock.restore();

  assert.equal(files.length, 100);
  assert.deepEqual(breaks, [20, 40, 60, 80, 100]);
});
