// The page of samples/chat, with AI SDK's useChat, in a real browser. The tests type and click as a person does.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { chromium } from "playwright-core";

import { until } from "./client.mjs";
import { openHouse } from "./house.mjs";
import { call, gate, text } from "./model.mjs";

/** `page` is the origin of the page of samples/chat. */
const { page: ORIGIN } = JSON.parse(process.env.CHAT_TEST);
const WORKSPACE = "chat-browser";
/** Most of the flags keep Chromium from calling its maker's servers. Chromium as root needs the first one. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const house = await openHouse(WORKSPACE);
const { model, api } = house;
// The browser has a new, empty profile in a temporary folder, as playwright makes it.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS, timeout: 60_000 });
after(async () => {
  await browser.close();
  house.close();
});

/**
 * The page, with a new profile. `faults` are the errors and warnings of its console. `resumed` are the statuses with which
 * the Worker answers the question of `useChat` whether a turn is under way.
 */
async function open(session, { agent = house.agent, origin = ORIGIN } = {}) {
  const page = await browser.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
  const resumed = [];
  page.on("response", (response) => response.url().endsWith("/stream") && resumed.push(response.status()));
  const given = new URLSearchParams({ url: house.url, workspace: WORKSPACE, session, agent });
  await page.goto(`${origin}/?${given}`);
  // A person does not type before the page is ready.
  if (origin === ORIGIN) await until(() => resumed.length > 0, "the answer to useChat");
  return { page, faults, resumed };
}

/** What a person sees of the messages, line by line. A call that is not unfolded is one line. */
const seen = (page) =>
  page
    .locator("section")
    .evaluateAll((sections) => sections.map((it) => it.innerText.split("\n").filter((line) => line.trim() !== "")));

/** Waits until the page shows these messages, and no others. */
async function shows(page, expected) {
  let shown;
  const same = async () => isDeepStrictEqual((shown = await seen(page)), expected);
  await until(same, "the messages").catch((error) => {
    assert.deepEqual(shown, expected);
    throw error;
  });
}

const button = (page, name) => page.getByRole("button", { name, exact: true });
const idle = (page) => until(() => button(page, "Send").isEnabled(), "the end of the turn");

/** Types a message, and sends it. */
async function say(page, words) {
  await idle(page);
  await page.getByLabel("Message").fill(words);
  await button(page, "Send").click();
}

const note = (content) => call("write_file", { path: "/note.txt", content });

/** The text of the session's file. */
async function noteOf(session) {
  const response = await fetch(`${house.url}/api/sessions/${session}/files/note.txt`, { headers: house.headersOf() });
  assert.equal(response.status, 200);
  return response.text();
}

test("a session that does not exist yet is an empty page", async () => {
  const { page, faults, resumed } = await open(house.newSession("new"));
  assert.deepEqual(resumed, [204]);
  assert.deepEqual([await seen(page), await page.getByRole("alert").count(), faults], [[], 0, []]);
});

test("a conversation with calls, approvals, a branch and a restored file", async () => {
  const session = house.newSession("talk");
  const { page, faults } = await open(session);
  const conversation = [];
  /** The message and its answer are added to what the page must show. */
  const answered = (words, ...lines) => {
    conversation.push(["user", words], ["assistant", ...lines]);
    return shows(page, conversation);
  };

  // The text comes as the model says it.
  const slowly = gate();
  const greeting = model.script([text("Good"), slowly.opened, text(" morning.")]);
  const hello = `Hello ${greeting.tag}`;
  await say(page, hello);
  await shows(page, [
    ["user", hello],
    ["assistant", "Good"],
  ]);
  assert.deepEqual([await button(page, "Send").isEnabled(), await button(page, "Again").isEnabled()], [false, false]);
  slowly.open();
  await answered(hello, "Good morning.");

  // A call shows its result.
  const first = model.script(note("one"), text("I wrote one."));
  await say(page, `Write one ${first.tag}`);
  await answered(`Write one ${first.tag}`, "write_file: output-available", "I wrote one.");
  await page.getByText("write_file: output-available").click();
  conversation.at(-1).splice(2, 0, '"Wrote 3 bytes to /note.txt"');
  await shows(page, conversation);
  assert.equal(await noteOf(session), "one");

  const held = gate();
  const second = model.script(
    note("two, longer"),
    text("I wrote two."),
    [text("Once more."), held.opened, note("three")],
    text("I wrote three."),
  );
  await say(page, `Write two ${second.tag}`);
  await answered(`Write two ${second.tag}`, "write_file: output-available", "I wrote two.");
  await idle(page);
  assert.equal(await noteOf(session), "two, longer");

  // The answer is made anew: a branch, which begins with the file as it was before the message.
  await button(page, "Again").click();
  conversation.splice(-1, 1, ["assistant", "Once more."]);
  await shows(page, conversation);
  assert.equal(await noteOf(session), "one");
  held.open();
  conversation.splice(-1, 1, ["assistant", "Once more.", "write_file: output-available", "I wrote three."]);
  await shows(page, conversation);
  await idle(page);
  assert.equal(await noteOf(session), "three");
  assert.deepEqual(second.requests[2].messages, second.requests[0].messages);

  // A call that needs an approval waits for the person.
  const third = model.script(call("wipe", { disk: 7 }), text("The disk is empty."));
  await say(page, `Wipe the disk ${third.tag}`);
  await button(page, "Approve").waitFor();
  await idle(page);
  assert.equal(third.requests.length, 1);
  assert.match((await seen(page)).at(-1).join(" "), /wipe: approval-requested .*"disk": 7/);
  await button(page, "Approve").click();
  await answered(`Wipe the disk ${third.tag}`, "wipe: output-available", "The disk is empty.");
  assert.match(third.requests[1].messages.at(-1).content, /wiped 7/);

  const fourth = model.script(call("wipe", { disk: 8 }), text("Then I leave it."));
  await say(page, `Wipe another disk ${fourth.tag}`);
  await button(page, "Deny").click();
  await answered(`Wipe another disk ${fourth.tag}`, "wipe: output-denied", "Then I leave it.");
  assert.match(fourth.requests[1].messages.at(-1).content, /denied/);
  await idle(page);
  assert.deepEqual([await button(page, "Approve").count(), await button(page, "Deny").count()], [0, 0]);
  assert.deepEqual(await house.pending(), []);

  // Going back to the answer that was replaced brings its file back, and so does going forth.
  const messages = await house.messages(session);
  assert.equal(messages.length, conversation.length);
  const anew = messages[5];
  const [replaced, ...others] = anew.siblings.filter((id) => id !== anew.id);
  assert.deepEqual(others, []);
  const checkout = (message_id) => api("POST", `/api/playground/sessions/${session}/checkout`, { message_id });
  await checkout(replaced);
  assert.equal(await noteOf(session), "two, longer");
  await checkout(messages.at(-1).id);
  assert.equal(await noteOf(session), "three");

  // The page goes on from there.
  const fifth = model.script(call("read_file", { path: "/note.txt" }), text("It says three."));
  await say(page, `Read it ${fifth.tag}`);
  await answered(`Read it ${fifth.tag}`, "read_file: output-available", "It says three.");
  assert.match(fifth.requests[1].messages.at(-1).content, /three/);
  await idle(page);
  await page.screenshot({ path: "target/it/chat-page.png", fullPage: true });
  assert.deepEqual(faults, []);
});

test("a page that is loaded again in the middle of a turn comes back to the turn", async () => {
  const session = house.newSession("reload");
  const { page, faults, resumed } = await open(session);
  const before = model.script(text("Nice to meet you."));
  await say(page, `Hello ${before.tag}`);
  await shows(page, [
    ["user", `Hello ${before.tag}`],
    ["assistant", "Nice to meet you."],
  ]);

  const held = gate();
  const tale = model.script([text("The first half,"), held.opened, text(" the second half.")], text("Another tale."));
  await say(page, `Tell me a tale ${tale.tag}`);
  await until(async () => (await seen(page)).at(-1).at(-1) === "The first half,", "the first half");
  await page.reload();
  // useChat begins empty, and the stream has the answer from its beginning.
  await shows(page, [["assistant", "The first half,"]]);
  assert.deepEqual(resumed, [204, 200]);
  assert.equal(await button(page, "Send").isEnabled(), false);
  held.open();
  await shows(page, [["assistant", "The first half, the second half."]]);
  assert.equal(tale.requests.length, 1);

  // The conversation is the session's, so the page can go on with what it does not show.
  await idle(page);
  await button(page, "Again").click();
  await shows(page, [["assistant", "Another tale."]]);
  const next = model.script(text("The end."));
  await say(page, `And then? ${next.tag}`);
  await shows(page, [
    ["assistant", "Another tale."],
    ["user", `And then? ${next.tag}`],
    ["assistant", "The end."],
  ]);
  const told = next.requests[0].messages.filter(({ role }) => role === "assistant");
  assert.deepEqual(
    told.map(({ content }) => content),
    ["Nice to meet you.", "Another tale."],
  );
  assert.deepEqual(faults, []);
});

test("a refusal is shown with its reason", async () => {
  const { page, faults } = await open(house.newSession("refused"), { agent: "agent_nobody" });
  assert.equal(await page.getByRole("alert").count(), 0);
  await say(page, "Is anybody there?");
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").innerText(), /agent_nobody/);
  // Chromium itself reports the status.
  await until(() => faults.length > 0, "the report of the status");
  assert.equal(faults.length, 1, faults.join("\n"));
  assert.match(faults[0], /status of 404/);
});

test("a page of another origin is not let in", async () => {
  const origin = ORIGIN.replace("127.0.0.1", "localhost");
  const { page, faults } = await open(house.newSession("foreign"), { origin });
  await page.getByRole("alert").waitFor();
  await until(() => faults.length > 0, "the report of the refusal");
  assert.match(faults[0], /blocked by CORS policy/);
});
