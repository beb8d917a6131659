// node bundle-size.mjs DIR LIMIT: prints the size of the bundle in DIR, raw and gzipped, and writes
// the size to DIR/size.json. Fails if the gzipped size is above LIMIT bytes (0: no limit).
// The size covers the files that a deployment uploads: the script and the module, not the source map.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [directory, limit] = process.argv.slice(2);
const size = { raw: 0, gzip: 0 };
for (const name of readdirSync(directory)) {
  if (!/\.(js|wasm)$/.test(name)) continue;
  const content = readFileSync(join(directory, name));
  size.raw += content.length;
  size.gzip += gzipSync(content, { level: 9 }).length;
}
writeFileSync(join(directory, "size.json"), `${JSON.stringify(size)}\n`);

const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
console.log(`bundle: ${kib(size.raw)}, gzipped ${kib(size.gzip)}`);
if (Number(limit) > 0 && size.gzip > Number(limit)) {
  console.error(`error: the gzipped bundle is ${size.gzip} bytes, above the limit of ${limit}`);
  process.exitCode = 1;
}
