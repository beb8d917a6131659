// Writes ZIP archives, for bundles of toolsets.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { crc32 } from "node:zlib";

/** A ZIP whose files are stored as they are. */
export function zip(files) {
  const [bodies, directory] = [[], []];
  let offset = 0;
  for (const [name, contents] of Object.entries(files)) {
    const [path, data] = [Buffer.from(name), Buffer.from(contents)];
    const sizes = Buffer.alloc(12);
    sizes.writeUInt32LE(crc32(data), 0);
    sizes.writeUInt32LE(data.length, 4);
    sizes.writeUInt32LE(data.length, 8);
    // Version 2.0, names in UTF-8, stored, the first day of 1980.
    const head = Buffer.from([20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0]);
    const lengths = Buffer.from([path.length & 255, path.length >> 8, 0, 0]);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), head, sizes, lengths, path, data]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), head, sizes, lengths, place, path]));
    bodies.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(bodies.length, 4);
  end.writeUInt16LE(bodies.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, list, Buffer.from("PK\x05\x06"), end]);
}

/** A ZIP of the files of a folder. */
export function zipOf(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
  const paths = entries.map((it) => join(it.parentPath, it.name)).sort();
  return zip(Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path)])));
}
