import assert from "node:assert/strict";
import { test } from "node:test";
import { chunkAtPoint, pageOfCharacter, pieces } from "../src/screens/document/geometry.ts";
import { parseMarkdown, safeHref, type Block, type Inline } from "../src/screens/document/markdown.ts";

function shown(nodes: readonly Inline[]): string {
  return nodes.map((node) => ("children" in node ? shown(node.children) : node.text)).join("");
}

function texts(nodes: readonly Inline[]): { text: string; start: number }[] {
  return nodes.flatMap((node) => ("children" in node ? texts(node.children) : [node]));
}

function inlines(block: Block): Inline[] {
  if ("children" in block) return block.children;
  return block.kind === "table" ? block.rows.flat(2) : [];
}

test("what extraction writes becomes blocks", () => {
  const source = "# Title\n\nFirst line\nsecond **bold** line.\n\n- one\n  - two\n3. three\n\n| A | B |\n| --- | --- |\n| 1 | x \\| y |\n\n> said\n\n```py\na = 1\n```\n---\n";
  const blocks = parseMarkdown(source);
  assert.deepEqual(blocks.map(({ kind }) => kind), ["heading", "paragraph", "item", "item", "item", "table", "quote", "code", "rule"]);
  const [heading, paragraph, , nested, numbered, table, , code] = blocks as [Block, Block, Block, Block, Block, Block, Block, Block];
  assert.equal(heading.kind === "heading" && heading.level, 1);
  assert.equal(shown(inlines(paragraph)), "First line\nsecond bold line.");
  assert.equal(nested.kind === "item" && nested.depth, 1);
  assert.equal(numbered.kind === "item" && numbered.mark, "3.");
  assert.ok(table.kind === "table" && table.hasHeader);
  assert.deepEqual(table.rows.map((row) => row.map(shown)), [["A", "B"], ["1", "x | y"]]);
  assert.equal(code.kind === "code" && code.text, "a = 1");
});

test("every piece of text knows its place", () => {
  const source = "# A *b*\n\none `two` \\*three\\* [four](https://x.example) _five_\n- **six**\n\n| a | **b** |\n| seven | eight |";
  for (const block of parseMarkdown(source)) {
    assert.ok(block.start < block.end && block.end <= source.length);
    for (const { text, start } of texts(inlines(block))) assert.equal(source.slice(start, start + text.length), text);
  }
});

test("HTML is text, and links lead to http, https and mail only", () => {
  const [block] = parseMarkdown("<script>alert(1)</script> [a](javascript:alert(1)) [b](https://ok.example/x) ![pixel](https://evil.example/p.png)");
  const nodes = inlines(block!);
  assert.equal(shown(nodes), "<script>alert(1)</script> a) b pixel");
  assert.deepEqual(nodes.flatMap((node) => (node.kind === "link" ? [node.href] : [])), ["https://ok.example/x"]);
  for (const bad of ["javascript:alert(1)", " java\nscript:alert(1)", "data:text/html,x", "//evil.example", "/local", "vbscript:x", "\u0001javascript:x", "blob:https://x", "file:///etc/passwd", "HTTPS//x", "https://"]) {
    assert.equal(safeHref(bad), null, bad);
  }
  assert.equal(safeHref("HTTPS://Example.org/a b"), "https://example.org/a");
  assert.equal(safeHref("mailto:a@example.org"), "mailto:a@example.org");
});

test("names with underscores and lone marks stay as they are", () => {
  for (const text of ["snake_case_name", "2 * 3 * 4", "a ** b", "[1]", "`", "**", "_", "![", "[a](", "\\", "5 * x and * y"]) {
    assert.equal(shown(inlines(parseMarkdown(text)[0]!)), text, text);
  }
});

test("hostile texts take linear time", () => {
  // A quadratic reader would take minutes for these.
  const n = 40_000;
  for (const part of ["[", "![", "*a", "**a ", "_a ", "`a ", "[a](", "](", "> ", "- ", "|", "\\", "#", "*_", "[a]("+ "(", " |a", "**_*"]) {
    const blocks = parseMarkdown(part.repeat(n));
    assert.ok(blocks.length >= 0);
  }
  parseMarkdown("```\n".repeat(n / 4));
  parseMarkdown("- a\n".repeat(n / 4));
});

test("a point has the chunk with the smallest box there", () => {
  const places = [
    { chunkId: "large", ordinal: 0, boxes: [[0, 0, 1, 1]] as const },
    { chunkId: "small", ordinal: 1, boxes: [[0.1, 0.1, 0.2, 0.2]] as const },
  ];
  assert.equal(chunkAtPoint(places, 0.15, 0.15), "small");
  assert.equal(chunkAtPoint(places, 0.5, 0.5), "large");
  assert.equal(chunkAtPoint(places.slice(1), 0.5, 0.5), null);
});

test("a text is cut where chunks begin and end", () => {
  const chunks = [
    { id: "a", ordinal: 0, charStart: 0, charEnd: 12 },
    { id: "b", ordinal: 1, charStart: 10, charEnd: 20 },
  ];
  const found = pieces("0123456789", 5, chunks, chunks[1]!);
  assert.deepEqual(found.map(({ text, chunkId, isMarked }) => [text, chunkId, isMarked]), [
    ["01234", "a", false],
    ["56", "b", true],
    ["789", "b", true],
  ]);
});

test("a character is on the last page that begins before it", () => {
  const pages = [0, 10, 10, 30].map((start, index) => ({ number: index + 1, start }));
  assert.deepEqual([0, 9, 10, 29, 30, 99].map((at) => pageOfCharacter(pages, at)), [1, 1, 3, 3, 4, 4]);
  assert.equal(pageOfCharacter([], 5), 1);
});
