// Builds the console into console/dist: `node scripts/lib/build-console.mjs [--watch] [--out DIR]`. scripts/console calls it.
//
// With --watch, it builds again after each change, and the pages that are open load themselves again: each build writes its id
// into index.html and into build.json, and a module that no other build has compares them.

import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import esbuild from "esbuild";
import openapiTS, { astToString } from "openapi-typescript";

const ROOT = resolve(fileURLToPath(new URL("../..", import.meta.url)));
const SOURCE = join(ROOT, "console");
const { values: given } = parseArgs({ options: { watch: { type: "boolean", default: false }, out: { type: "string" } } });
const DIST = resolve(given.out ?? join(SOURCE, "dist"));
const STATIC = join(SOURCE, "static");
const DESCRIPTION = join(ROOT, "openapi.json");
/** The most gzipped bytes that a page may load before its editor is needed. */
const MAX_APP_BYTES = 120_000;

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

const assetOf = (name) => `/assets/${basename(name)}`;

/** Writes index.html with the names that the entry has now. Only a build that is watched has an id. */
function writeIndex(metafile, id) {
  const entry = entryOf(metafile);
  const page = readFileSync(join(STATIC, "index.html"), "utf8")
    .replace("/assets/main.js", assetOf(entry))
    .replace("/assets/main.css", assetOf(metafile.outputs[entry].cssBundle))
    .replace("</head>", id === undefined ? "</head>" : `  <meta name="build" content="${id}" />\n  </head>`);
  writeFileSync(join(DIST, "index.html"), page);
}

/** Names what a build has made: the names of its files change with their contents. */
function buildId(metafile) {
  const hash = createHash("sha256").update(Object.keys(metafile.outputs).sort().join("\n"));
  for (const name of readdirSync(STATIC).sort()) hash.update(readFileSync(join(STATIC, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Files of the console that are loaded when a person edits something, and everything that only they import. */
const isEditor = (output) => output?.entryPoint?.includes("parts/editor/") === true;

/** The files that come with these ones, and with their later imports too if `later`, but for the editor. */
function withImports(outputs, entries, later) {
  const wanted = new Set();
  const add = (name) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const { kind, path } of outputs[name].imports) {
      if (kind === "import-statement" || (later && kind === "dynamic-import" && !isEditor(outputs[path]))) add(path);
    }
    if (outputs[name].cssBundle) wanted.add(outputs[name].cssBundle);
  };
  entries.forEach(add);
  return wanted;
}

/** The gzipped bytes of the entry; of the entry with the largest page, and all that this page may load; of the editor. */
function sizesOf({ outputs }, files) {
  const sizes = new Map(files.map(({ path, contents }) => [relative(ROOT, path), gzipSync(contents).length]));
  const sum = (names) => [...names].reduce((total, name) => total + sizes.get(name), 0);
  const entry = entryOf({ outputs });
  const pages = Object.keys(outputs).filter((it) => /\/pages\/\w+\/index\.tsx$/.test(outputs[it].entryPoint ?? ""));
  const first = withImports(outputs, [entry], false);
  const views = pages.map((it) => ({ name: outputs[it].entryPoint, files: first.union(withImports(outputs, [it], true)) }));
  const largest = views.reduce((one, other) => (sum(one.files) > sum(other.files) ? one : other));
  const editor = withImports(outputs, Object.keys(outputs).filter((it) => isEditor(outputs[it])), false);
  return { first: sum(first), page: largest.name.split("/").at(-2), app: sum(largest.files), editor: sum(editor.difference(largest.files)) };
}

const kilobytes = (count) => `${(count / 1000).toFixed(1)} KB`;

process.chdir(ROOT);
await writeTypes();
if (given.watch) {
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
  const { first, page, app, editor } = sizesOf(metafile, outputFiles);
  process.stderr.write(`console: ${kilobytes(first)} gzipped before the first page, at most ${kilobytes(app)} with one (${page}), and ${kilobytes(editor)} for the editor\n`);
  if (app > MAX_APP_BYTES) {
    process.stderr.write(`error: a page may load ${kilobytes(MAX_APP_BYTES)} before its editor\n`);
    process.exitCode = 1;
  }
}

/** What esbuild does not see by itself: the files that are served as they are, and the description of the API. */
function watchBeside(build) {
  build.onLoad({ filter: /\/src\/main\.tsx$/ }, ({ path }) => ({
    contents: `${readFileSync(path, "utf8")}import "./reload_on_build.ts";\n`,
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
    const id = buildId(metafile);
    writeIndex(metafile, id);
    // The last file, so that everything else is there when a page sees it.
    writeFileSync(join(DIST, "build.json"), JSON.stringify({ id, entry: assetOf(entryOf(metafile)) }));
  });
}

function copyStatic() {
  cpSync(STATIC, DIST, { recursive: true });
}
