// Bundles the dashboard into ../api/dashboard/static, which is committed and served by the API.
//
//   node build.mjs           the bundle, the same bytes for the same sources
//   node build.mjs --watch   again after each change, with source maps
//   node build.mjs --tests   the tests, into .tests
//
// Names carry the hash of their content, so that browsers keep the files for ever. Each file is
// compressed beside it. src/workers/NAME.ts becomes a worker, opened with openWorker("NAME").

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "api", "dashboard", "static");
const isWatching = process.argv.includes("--watch");

const common = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  alias: { "@rag-ingest/client": join(here, "..", "clients", "js", "src", "index.ts") },
};

const assets = {
  ...common,
  minify: !isWatching,
  sourcemap: isWatching ? "linked" : false,
  outdir: join(out, "assets"),
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
};

/** Files below a folder, sorted; none if it does not exist. */
async function filesOf(folder, suffix) {
  const names = await readdir(join(here, folder), { recursive: true }).catch(() => []);
  return names.filter((name) => name.endsWith(suffix)).sort().map((name) => join(folder, name));
}

/** What the page loads at once with an output: names of files, without what is imported when needed. */
function neededBy({ metafile }, entryPoint) {
  const { outputs } = metafile;
  const found = new Set([Object.keys(outputs).find((path) => outputs[path].entryPoint === entryPoint)]);
  for (const path of found) {
    for (const part of outputs[path].imports) if (part.kind === "import-statement") found.add(part.path);
  }
  return [...found].slice(1).map((path) => basename(path)).sort();
}

/** The name of each entry point's output. */
function outputs(result) {
  return Object.fromEntries(
    Object.entries(result.metafile.outputs)
      .filter(([, output]) => output.entryPoint)
      .map(([path, output]) => [output.entryPoint, basename(path)]),
  );
}

/** As a literal: `{"hash": "hash-1A2B3C4D.js"}`. */
function byName(built) {
  return JSON.stringify(Object.fromEntries(Object.entries(built).map(([path, name]) => [basename(path).replace(/\.\w+$/, ""), name])));
}

async function build() {
  await rm(out, { recursive: true, force: true });
  await mkdir(join(out, "assets"), { recursive: true });
  const workers = outputs(await esbuild.build({ ...assets, entryPoints: await filesOf("src/workers", ".ts") }));
  const styles = outputs(await esbuild.build({ ...assets, entryPoints: ["src/styles/main.css", "src/styles/ask.css"] }));
  const result = await esbuild.build({
    ...assets,
    splitting: true,
    entryPoints: ["src/main.tsx"],
    define: { WORKERS: byName(workers), STYLES: byName(styles) },
  });
  const built = outputs(result);
  // Otherwise the browser learns of them when it has main.js.
  const preloads = neededBy(result, "src/main.tsx").map((name) => `<link rel="modulepreload" href="assets/${name}" />`);
  const icon = await readFile(join(here, "src", "icon.svg"));
  const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
  await writeFile(join(out, "assets", iconName), icon);
  const page = (await readFile(join(here, "src", "index.html"), "utf8"))
    .replace("main.css", styles["src/styles/main.css"])
    .replace("main.js", built["src/main.tsx"])
    .replace("icon.svg", iconName)
    .replace("<!-- preloads -->", preloads.join("\n    "));
  await writeFile(join(out, "index.html"), page);
  await compress();
}

async function compress() {
  let gzip = 0;
  let brotli = 0;
  const files = (await readdir(out, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  for (const file of files) {
    const path = join(file.parentPath, file.name);
    const bytes = await readFile(path);
    const small = gzipSync(bytes, { level: 9 });
    small[9] = 255; // the operating system, which must not change the bytes
    await writeFile(`${path}.gz`, small);
    const smallest = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
    await writeFile(`${path}.br`, smallest);
    gzip += small.length;
    brotli += smallest.length;
  }
  const kilobytes = (size) => `${(size / 1000).toFixed(1)} kB`;
  console.log(`${files.length} files, ${kilobytes(gzip)} by gzip, ${kilobytes(brotli)} by Brotli`);
}

async function buildTests() {
  const outdir = join(here, ".tests");
  await rm(outdir, { recursive: true, force: true });
  const entries = async (folder, prefix) =>
    (await filesOf(folder, ".test.ts")).map((path) => ({ in: path, out: `${prefix}/${basename(path, ".ts")}` }));
  await esbuild.build({
    ...common,
    entryPoints: [...(await entries("tests", "dashboard")), ...(await entries("../clients/js/tests", "client"))],
    outdir,
    platform: "node",
    target: "node20",
    outExtension: { ".js": ".mjs" },
    define: { WORKERS: "{}", STYLES: "{}" },
  });
}

if (process.argv.includes("--tests")) {
  await buildTests();
} else {
  await build();
  if (isWatching) {
    const { watch } = await import("node:fs");
    let timer;
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(() => build().catch((error) => console.error(error.message)), 100);
    };
    for (const folder of [join(here, "src"), join(here, "..", "clients", "js", "src")]) {
      watch(folder, { recursive: true }, again);
    }
  }
}
