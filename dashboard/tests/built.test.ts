/** The committed files, as Brotli has them: Python has none to look. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";

const FOLDER = "../api/dashboard/static";

test("every built file has its Brotli form beside it", () => {
  const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !/\.(gz|br)$/.test(file.name))
    .map((file) => `${file.parentPath}/${file.name}`);
  assert.ok(files.length > 10);
  for (const file of files) assert.ok(brotliDecompressSync(readFileSync(`${file}.br`)).equals(readFileSync(file)), file);
});
