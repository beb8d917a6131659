// The page Playground: a chat with calls, an approval, a denial, branches and files, with a scripted model.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { call, gate, startModel, text } from "../chat/model.mjs";
import { KEEP, accessible, allow, expectRefusals, openHouse, pictures, until } from "./house.mjs";

const house = await openHouse("console-playground");
const model = await startModel();
after(async () => {
  await house.close();
  model.stop();
});

const { api } = house;
await api("PATCH", "/api/workspace", { model_url: model.url, model_name: "scripted" });
const { id: agent } = await api("POST", "/api/agents", { name: "Clerk", max_risk: "critical" });
await api("POST", "/api/tools", KEEP);
for (const tool_id of ["keep", "write_file", "read_file"]) await api("POST", `/api/agents/${agent}/tools`, { tool_id });

const button = (page, name) => page.getByRole("button", { name, exact: true });
const idle = (page) => until(async () => (await page.locator('section.chat[aria-busy="false"]').count()) === 1, "the end of the turn");
const filesOf = async (session) => (await api("GET", `/api/sessions/${session}/files`)).entries.map((it) => it.name);
const messagesOf = async (session) => (await api("GET", `/api/playground/sessions/${session}/messages`)).messages;

async function say(page, words) {
  await idle(page);
  await page.getByLabel("Message", { exact: true }).fill(words);
  await button(page, "Send").click();
}

/** Waits until the page shows the text, as a part of the conversation. */
const sees = (page, words) => page.locator(".messages").getByText(words).first().waitFor();

test("a conversation with calls, files, an approval, a denial and a branch", async () => {
  const page = await house.open(`playground/talk?agent=${agent}&new=true`);
  const slowly = gate();
  const first = model.script([text("Good"), slowly.opened, text(" morning.")]);
  await say(page, `Hello ${first.tag}`);
  await sees(page, "Good");
  await button(page, "Stop").waitFor();
  slowly.open();
  await sees(page, "Good morning.");

  const second = model.script(call("write_file", { path: "/note.txt", content: "one" }), text("I wrote it."));
  await say(page, `Write one ${second.tag}`);
  await sees(page, "I wrote it.");
  await idle(page);
  await page.getByRole("region", { name: "Files of the session" }).getByRole("link", { name: "note.txt" }).waitFor();
  await page.getByRole("region", { name: "Call of write_file" }).getByText("done").waitFor();

  const third = model.script(call("keep", { path: "/kept.txt", content: "two" }), text("It is kept."));
  await say(page, `Keep two ${third.tag}`);
  await button(page, "Approve and run").waitFor();
  await idle(page);
  await accessible(page);
  assert.deepEqual(await filesOf("talk"), ["note.txt"]);
  await button(page, "Approve and run").click();
  await sees(page, "It is kept.");
  await idle(page);
  assert.deepEqual(await filesOf("talk"), ["kept.txt", "note.txt"]);

  const fourth = model.script(call("keep", { path: "/never.txt", content: "3" }), text("Then not."));
  await say(page, `Keep three ${fourth.tag}`);
  await button(page, "Deny").waitFor();
  await idle(page);
  await page.getByLabel("Reason").fill("not now");
  await button(page, "Deny").click();
  await sees(page, "Then not.");
  await idle(page);
  assert.match(fourth.requests[1].messages.at(-1).content, /not now/);
  assert.deepEqual(await filesOf("talk"), ["kept.txt", "note.txt"]);

  // The second message is written anew: a branch that begins with the files before it.
  const fifth = model.script(text("Nothing is written."));
  const edited = page.locator(".message.user").nth(1);
  await button(edited, "Edit").click();
  await page.getByLabel("The message, written anew").fill(`Write nothing ${fifth.tag}`);
  await button(page, "Send as a branch").click();
  await sees(page, "Nothing is written.");
  await idle(page);
  assert.deepEqual((await messagesOf("talk")).length, 4);
  assert.deepEqual(await filesOf("talk"), []);
  await page.getByRole("region", { name: "Files of the session" }).getByText("No files yet.").waitFor();

  // Back to the other branch, and its file is there again.
  await page.getByText("2 of 2").waitFor();
  await page.getByRole("button", { name: "The branch before" }).click();
  await sees(page, `Write one ${second.tag}`);
  // The branch is as it was left, with all that was said in it.
  await sees(page, "Then not.");
  await idle(page);
  assert.deepEqual(await filesOf("talk"), ["kept.txt", "note.txt"]);
  await accessible(page);
  await pictures(page, "playground");
});

test("an answer is made anew, and the conversation goes back to a message with its files", async () => {
  const page = await house.open(`playground/again?agent=${agent}&new=true`);
  const script = model.script(call("write_file", { path: "/a.txt", content: "1" }), text("First."), text("Second."));
  await say(page, `Write a ${script.tag}`);
  await sees(page, "First.");
  await idle(page);
  assert.deepEqual(await filesOf("again"), ["a.txt"]);
  await button(page, "Answer again").click();
  await sees(page, "Second.");
  await idle(page);
  assert.deepEqual(await filesOf("again"), []);
  await page.getByRole("button", { name: "The branch before" }).click();
  await sees(page, "First.");
  await idle(page);
  assert.deepEqual(await filesOf("again"), ["a.txt"]);
});

test("a page that is loaded again comes back to the turn, and a turn can be stopped", async () => {
  const page = await house.open(`playground/reload?agent=${agent}&new=true`);
  const held = gate();
  const tale = model.script([text("The first half,"), held.opened, text(" the second half.")]);
  await say(page, `Tell me a tale ${tale.tag}`);
  await sees(page, "The first half,");
  await page.reload();
  await sees(page, "The first half,");
  held.open();
  await sees(page, "The first half, the second half.");
  await idle(page);

  const never = gate();
  const endless = model.script([text("On and on"), never.opened, text("never")]);
  await say(page, `Go on ${endless.tag}`);
  await sees(page, "On and on");
  await button(page, "Stop").click();
  await page.getByText("The turn was stopped").waitFor();
  never.open();
  await idle(page);
});

test("a turn that waits goes on by itself when somebody else decides", async () => {
  const { token } = await api("POST", "/api/tokens", { name: "talker", level: "user" });
  const page = await house.open(`playground/elsewhere?agent=${agent}&new=true`, { token });
  const script = model.script(call("keep", { path: "/kept.txt", content: "1" }), text("Somebody allowed it."));
  await say(page, `Keep one ${script.tag}`);
  await page.getByText("An admin decides").waitFor();
  await page.getByRole("region", { name: "Call of keep" }).getByText("waiting", { exact: true }).waitFor();
  // While nothing happens, the page does not read the conversation.
  let reads = 0;
  page.on("request", (it) => (reads += it.url().includes("/messages") ? 1 : 0));
  for (let look = 0; look < 2; look += 1) await page.waitForResponse((it) => it.url().includes("/api/tool-calls/"));
  assert.equal(reads, 0, "the conversation is read while nothing happens");
  const { approvals } = await api("GET", "/api/approvals?status=pending");
  await api("POST", `/api/approvals/${approvals.find((it) => it.session_id === "elsewhere").id}/approve`);
  await sees(page, "Somebody allowed it.");
  await idle(page);
  await page.getByRole("region", { name: "Call of keep" }).getByText("done").waitFor();
  // Nothing waits any more, so nobody asks any more.
  let asked = 0;
  page.on("request", () => (asked += 1));
  await page.evaluate(() => new Promise((done) => setTimeout(done, 4_500)));
  assert.equal(asked, 0);
  await page.context().close();
});

test("every button of the chat has its request as curl", async () => {
  const page = await house.open(`playground/curl?agent=${agent}&new=true`);
  const held = gate();
  const script = model.script([text("One"), held.opened], call("keep", { path: "/k.txt", content: "1" }));
  const copied = async (name) => {
    await button(page, `Copy “${name}” as curl`).last().click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  await say(page, `Say one ${script.tag}`);
  await sees(page, "One");
  assert.match(await copied("Stop"), /-X POST .*\/api\/playground\/sessions\/curl\/stop'/);
  held.open();
  await idle(page);
  await page.getByText("As curl", { exact: true }).last().click();
  const [, { id: answer }] = await messagesOf("curl");
  assert.match(await copied("Answer again"), new RegExp(`/chat'.*"trigger":"regenerate-message","messageId":"${answer}"`));
  assert.match(await copied("Go back here"), new RegExp(`/checkout'.*"message_id":"${answer}"`));
  await page.getByLabel("Message", { exact: true }).fill("Two");
  assert.match(await copied("Send"), /"message":"Two"/);
  await say(page, `Keep one ${script.tag}`);
  await button(page, "Deny").waitFor();
  assert.match(await copied("Deny"), /\/api\/approvals\/appr_\w+\/deny'/);
  assert.match(await copied("Approve"), /\/api\/approvals\/appr_\w+\/approve'/);
  await page.context().close();
});

test("the agent that answers is the one that was asked for, or the one that answered last", async () => {
  const { id: other } = await api("POST", "/api/agents", { name: "Cook" });
  const field = (page) => page.getByLabel("Agent", { exact: true });
  const script = model.script(text("Soup."));
  const page = await house.open(`playground/soup?agent=${other}&new=true`);
  await say(page, `What is there? ${script.tag}`);
  await sees(page, "Soup.");

  // The newest conversation comes first, and goes on with its agent.
  await page.goto(page.url().split("#")[0] + "#/playground");
  const list = page.getByRole("region", { name: "Go on with" });
  assert.equal(await list.getByRole("link").first().innerText(), "soup");
  assert.equal(await field(page).inputValue(), "", "nobody is chosen silently");
  assert.ok(await button(page, "Begin").isDisabled());
  await list.getByRole("link", { name: "soup", exact: true }).click();
  await sees(page, "Soup.");
  await until(async () => (await field(page).inputValue()) === other, "the agent of the last turn");

  // An agent that there is not is told, and none answers instead.
  await page.goto(page.url().split("#")[0] + "#/playground/new-one?agent=agent_none&new=true");
  await page.getByText("There is no agent").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Is anybody there?");
  assert.ok(await button(page, "Send").isDisabled());
  await expectRefusals(page, 404);
  await accessible(page);
  await field(page).selectOption(other);
  await until(() => button(page, "Send").isEnabled(), "an agent that answers");

  // An agent that the list of 200 does not have is read by itself.
  await page.route("**/api/agents?*", (route) => route.fulfill({ json: { agents: [{ id: agent, name: "Clerk" }], next_cursor: "more" } }));
  await page.goto(page.url().split("#")[0] + `#/playground?agent=${other}`);
  await page.reload();
  await until(async () => (await field(page).inputValue()) === other, "the agent of the link");
  await page.context().close();
});

test("a branch that was refused keeps what was typed, and an answer is shown as a document once it is complete", async () => {
  const page = await house.open(`playground/edited?agent=${agent}&new=true`);
  const held = gate();
  const script = model.script([text("It is **half"), held.opened, text(" done**:\n\n- one\n- two")], text("Another one."));
  await say(page, `Begin ${script.tag}`);
  await sees(page, "It is **half");
  held.open();
  await idle(page);
  await page.locator(".messages strong").getByText("half done").waitFor();
  assert.deepEqual(await page.locator(".messages .markdown li").allInnerTexts(), ["one", "two"]);

  await page.route("**/api/playground/sessions/edited/chat", (route) => route.fulfill({ status: 503, json: { error: { code: "UNAVAILABLE", message: "The database rests", details: null } } }));
  await button(page.locator(".message.user"), "Edit").click();
  const field = page.getByLabel("The message, written anew");
  await field.fill(`Begin again ${script.tag}`);
  await button(page, "Send as a branch").click();
  await page.getByRole("alert").getByText("The database rests").waitFor();
  await idle(page);
  assert.equal(await field.inputValue(), `Begin again ${script.tag}`);
  await expectRefusals(page, 503);
  await page.unrouteAll();
  await button(page, "Send as a branch").click();
  await sees(page, "Another one.");
  await idle(page);
  assert.equal(await field.count(), 0);
  await page.context().close();
});

test("the notice about the model goes when a model is set", async () => {
  const other = await openHouse(`console-model-${Date.now().toString(36)}`);
  const page = await other.open("playground");
  const notice = page.getByText("No model is configured");
  await notice.waitFor();
  await page.getByRole("link", { name: "the settings of the workspace" }).click();
  await page.getByLabel("Address", { exact: true }).fill(model.url);
  await page.getByLabel("Model", { exact: true }).fill("scripted");
  await button(page, "Save the settings").click();
  await page.getByText("The settings are saved").waitFor();
  await page.getByRole("link", { name: "Playground", exact: true }).click();
  await page.getByRole("heading", { name: "Playground", level: 1 }).waitFor();
  await notice.waitFor({ state: "detached" });
  await other.close();
});

test("a model that fails is told, and what was typed is not lost", async () => {
  await api("PATCH", "/api/workspace", { model_url: "http://127.0.0.1:9/v1" });
  const page = await house.open(`playground/broken?agent=${agent}&new=true`);
  await say(page, "Is anybody there?");
  await page.getByRole("alert").getByText("The model's server cannot be reached").waitFor();
  await api("PATCH", "/api/workspace", { model_url: model.url });
  await accessible(page);
});

test("a message that is refused replaces nothing that was typed meanwhile", async () => {
  const page = await house.open(`playground/refused?agent=${agent}&new=true`);
  const field = page.getByLabel("Message", { exact: true });
  let refuse;
  const isHeld = new Promise((done) => (refuse = done));
  await page.route("**/chat", async (route) => {
    await isHeld;
    await route.fulfill({ status: 503, json: { error: { code: "UNAVAILABLE", message: "The model rests", details: null } } });
  });
  await say(page, "yes");
  await field.fill("and then");
  refuse();
  await page.getByText("This message was not sent: yes").waitFor();
  assert.equal(await field.inputValue(), "and then");
  await accessible(page);
  await button(page, "Put it before the message below").click();
  assert.equal(await field.inputValue(), "yes\nand then");
  await page.unrouteAll();

  // The same words again are another message.
  const script = model.script(text("Heard."), text("Heard again."));
  await field.fill(`yes ${script.tag}`);
  await button(page, "Send").click();
  await sees(page, "Heard.");
  await idle(page);
  await page.route("**/chat", (route) => route.fulfill({ status: 503, json: { error: { code: "UNAVAILABLE", message: "The model rests", details: null } } }));
  await say(page, `yes ${script.tag}`);
  await page.getByRole("alert").getByText("The model rests").waitFor();
  await until(async () => (await field.inputValue()) === `yes ${script.tag}`, "the words that were refused");
  allow(page, /status of (503|404)/);
  await page.context().close();
});

test("without an agent the page says what to do", async () => {
  const empty = await openHouse("console-playground-empty");
  const page = await empty.open("playground");
  await page.getByText("There is no agent yet").waitFor();
  await accessible(page);
  await empty.close();
});
