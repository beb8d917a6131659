// Builds the console into console/dist: `node scripts/lib/build-console.mjs [--watch]`. scripts/console calls it.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import esbuild from "esbuild";
import openapiTS, { astToString } from "openapi-typescript";

const ROOT = resolve(fileURLToPath(new URL("../..", import.meta.url)));
const SOURCE = join(ROOT, "console");
const DIST = join(SOURCE, "dist");
const STATIC = join(SOURCE, "static");
const DESCRIPTION = join(ROOT, "openapi.json");

/** The description that the types were last made of. */
let described = "";

/** The types of the API, from its description. They are written only if they differ, so that no watcher is woken. */
async function writeTypes() {
  const description = readFileSync(DESCRIPTION, "utf8");
  if (description === described) return;
  described = description;
  const file = join(SOURCE, "src/api/schema.d.ts");
  const text = astToString(await openapiTS(JSON.parse(description)));
  let present = "";
  try {
    present = readFileSync(file, "utf8");
  } catch {
    // The first build.
  }
  if (present !== text) writeFileSync(file, text);
}

const options = {
  entryPoints: [join(SOURCE, "src/main.tsx")],
  outdir: join(DIST, "assets"),
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  sourcemap: "linked",
  // Files whose names change with their contents can be cached for ever.
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  metafile: true,
  logLevel: "warning",
};

/** The name of the entry. */
const entryOf = ({ outputs }) => Object.keys(outputs).find((it) => outputs[it].entryPoint?.endsWith("main.tsx"));

/** Writes index.html with the names that the entry has now. */
function writeIndex(metafile) {
  const entry = entryOf(metafile);
  const assetOf = (name) => `/assets/${basename(name)}`;
  const page = readFileSync(join(STATIC, "index.html"), "utf8")
    .replace("/assets/main.js", assetOf(entry))
    .replace("/assets/main.css", assetOf(metafile.outputs[entry].cssBundle));
  writeFileSync(join(DIST, "index.html"), page);
}

/** What a browser loads before a page is opened: the entry and everything that it imports at once. */
function firstBytes(metafile) {
  const outputs = metafile.outputs;
  const entry = entryOf(metafile);
  const wanted = new Set();
  const add = (name) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const it of outputs[name].imports) if (it.kind === "import-statement") add(it.path);
    if (outputs[name].cssBundle) wanted.add(outputs[name].cssBundle);
  };
  add(entry);
  return [...wanted].reduce((sum, name) => sum + gzipSync(readFileSync(join(process.cwd(), name))).length, 0);
}

process.chdir(ROOT);
await writeTypes();
if (process.argv.includes("--watch")) {
  mkdirSync(DIST, { recursive: true });
  const context = await esbuild.context({ ...options, plugins: [{ name: "beside", setup: watchBeside }] });
  await context.watch();
} else {
  // A build that fails leaves the last one as it is.
  const { metafile, outputFiles } = await esbuild.build({ ...options, write: false });
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(options.outdir, { recursive: true });
  copyStatic();
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  writeIndex(metafile);
  process.stderr.write(`console: ${(firstBytes(metafile) / 1000).toFixed(1)} KB gzipped before the first page\n`);
}

/** What esbuild does not see by itself: the files that are served as they are, and the description of the API. */
function watchBeside(build) {
  build.onLoad({ filter: /\/src\/main\.tsx$/ }, ({ path }) => ({
    contents: readFileSync(path, "utf8"),
    loader: "tsx",
    watchFiles: [DESCRIPTION, ...readdirSync(STATIC).map((name) => join(STATIC, name))],
    watchDirs: [STATIC],
  }));
  build.onEnd(async ({ metafile, errors }) => {
    try {
      await writeTypes();
    } catch (cause) {
      // Somebody is writing the description at this moment. The next change is seen again.
      process.stderr.write(`console: openapi.json cannot be read: ${cause.message}\n`);
    }
    if (errors.length > 0) return;
    copyStatic();
    writeIndex(metafile);
  });
}

function copyStatic() {
  cpSync(STATIC, DIST, { recursive: true });
}
