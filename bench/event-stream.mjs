// Reads an event stream of text, and tells when its parts came. The stream of a model and that of a turn are read alike.

import { request } from "node:http";

/** The text of an event, in each of the two protocols. */
const TEXT = {
  model: (it) => it.choices?.[0]?.delta?.content,
  turn: (it) => (it.type === "text-delta" ? it.delta : undefined),
};

/** Sends a request and reads its stream. All times are milliseconds since the request was sent. `delays` are those between the
 * sending of a piece of text by the model and its arrival here.
 *
 * Nothing is parsed before the stream has ended, so that this process takes little of what it measures. */
export function stream({ url, headers, body, protocol }, agent) {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const pieces = [];
    const sent = request(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, agent }, (response) => {
      response.on("data", (bytes) => pieces.push({ bytes, ms: performance.now() - begun, clock: process.hrtime.bigint() }));
      response.on("error", reject);
      response.on("end", () => {
        const end = performance.now() - begun;
        if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}: ${Buffer.concat(pieces.map((it) => it.bytes))}`));
        resolve({ headers: response.headers, firstByte: pieces[0]?.ms, end, ...parse(pieces, TEXT[protocol]) });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function parse(pieces, textOf) {
  const events = [];
  const delays = [];
  const texts = [];
  const decoder = new TextDecoder();
  let rest = "";
  for (const { bytes, ms, clock } of pieces) {
    const whole = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = whole.pop();
    for (const line of whole) {
      if (!line.startsWith("data: {")) continue;
      const event = JSON.parse(line.slice("data: ".length));
      events.push(event);
      const text = textOf(event);
      if (text === undefined || text === null) continue;
      texts.push(ms);
      const stamp = /^\d+(?= )/.exec(text);
      if (stamp) delays.push(Number(clock - BigInt(stamp[0])) / 1e6);
    }
  }
  return { events, delays, texts: texts.length, firstText: texts[0], lastText: texts.at(-1) };
}

/** The last event of a turn, which must be a `finish` with this reason. */
export function finished({ events }, reason = "stop") {
  const last = events.at(-1);
  if (last?.type !== "finish" || last.finishReason !== reason) throw new Error(`a turn ended with ${JSON.stringify(events.slice(-3))}`);
  return last;
}
