// The object sends nothing before its earlier writes are on disk, unless a write says that nothing has to wait for it. The
// crate `worker` cannot say so.
const UNCONFIRMED = { allowUnconfirmed: true };

/** The storage deletes this many keys at once. */
const MAX_KEYS = 128;

/**
 * Puts one text in the place of what the storage holds, and sets the alarm, all in one transaction. Keys that begin with
 * `kept` stay, except the key `obsolete`.
 */
export async function replaceAll(storage, key, text, alarm, kept, obsolete) {
  const left = [...(await storage.list()).keys()].filter((it) => it === obsolete || !it.startsWith(kept));
  const writes = [];
  for (let at = 0; at < left.length; at += MAX_KEYS) writes.push(storage.delete(left.slice(at, at + MAX_KEYS), UNCONFIRMED));
  writes.push(storage.put(key, text, UNCONFIRMED), storage.setAlarm(alarm, UNCONFIRMED));
  await Promise.all(writes);
}
