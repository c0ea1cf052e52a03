import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { Sha256 } from "../../src/screens/upload/sha256.ts";

function bytes(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 7)) % 256);
}

function expected(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

test("lengths around a block have the digest that node computes", () => {
  for (const size of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 1000]) {
    const hash = new Sha256();
    hash.update(bytes(size));
    assert.equal(hash.hex(), expected(bytes(size)), `${size} bytes`);
  }
});

test("parts of any size have the digest of the whole", () => {
  const data = bytes(100_000);
  for (const step of [1, 7, 63, 64, 65, 4096]) {
    const hash = new Sha256();
    for (let at = 0; at < data.length; at += step) hash.update(data.subarray(at, at + step));
    assert.equal(hash.hex(), expected(data), `steps of ${step}`);
  }
});

test("the length beyond 512 MB, whose bits need a second word, counts", () => {
  const part = new Uint8Array(64 * 1024 * 1024);
  const hash = new Sha256();
  const theirs = createHash("sha256");
  for (let i = 0; i < 9; i++) {
    hash.update(part);
    theirs.update(part);
  }
  assert.equal(hash.hex(), theirs.digest("hex"));
});
