// Writes build/migrations.js, by which the bundle has the migrations of DB, for workspaces with objects (src/workspace.js).

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(fileURLToPath(new URL("../..", import.meta.url)));
const FOLDER = join(ROOT, "migrations/db");

/** Comments are for readers of the file, and quotes never hold two dashes at the beginning of a line. */
const withoutComments = (text) => text.replace(/^\s*--.*\n/gm, "");

const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".sql"))
  .toSorted();
const migrations = names.map((name) => [name, withoutComments(readFileSync(join(FOLDER, name), "utf8"))]);
mkdirSync(join(ROOT, "build"), { recursive: true });
writeFileSync(join(ROOT, "build/migrations.js"), `export const MIGRATIONS = ${JSON.stringify(migrations)};\n`);
