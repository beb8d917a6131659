// Approvals in the chats of AI SDK, by their own answers and by REST.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { callOf, textOf, until } from "./client.mjs";
import { openHouse } from "./house.mjs";
import { call, gate, text } from "./model.mjs";
import { eachVersion } from "./versions.mjs";

const house = await openHouse("chat-approvals");
const { model, api } = house;
after(() => house.close());

const decide = (id, decision, body) => api("POST", `/api/approvals/${id}/${decision}`, body);
const settled = (chat) => until(() => ["ready", "error"].includes(chat.status), "the end of the turn");

eachVersion(house, ({ hasApprovals, open, newSession, stored, initial }) => {
  /** A turn that waits for the approval of `wipe`. Returns the id of the approval. */
  async function waiting(chat, tag) {
    await chat.sendMessage({ text: `Wipe the disk ${tag}` });
    assert.equal(chat.error, undefined);
    const asked = chat.messages.at(-1);
    const part = callOf(asked, "wipe");
    if (!hasApprovals) {
      const request = asked.parts.find(({ type }) => type === "data-approval");
      assert.equal(request.id, part.toolCallId);
      return request.data.approvalId;
    }
    assert.equal(part.state, "approval-requested");
    assert.equal(asked.parts.find(({ type }) => type === "data-call").data.approval_id, part.approval.id);
    return part.approval.id;
  }

  test("a user without the level cannot approve in the chat", { skip: !hasApprovals }, async () => {
    const session = newSession();
    const { tag, requests } = model.script(call("wipe", { disk: 1 }), text("Wiped."));
    const chat = open(session, { token: house.userToken });
    const approval = await waiting(chat, tag);
    const finishes = chat.finishes.length;
    await chat.addToolApprovalResponse({ id: approval, approved: true });
    await until(() => chat.finishes.length > finishes, "the answer to the approval");
    await settled(chat);
    assert.equal(chat.error, undefined);
    assert.equal(callOf(chat.messages[1], "wipe").state, "approval-requested");
    assert.equal(chat.messages.length, 2);
    assert.equal(requests.length, 1);
    assert.ok((await house.pending()).some(({ id }) => id === approval));
    await stored(session, chat);
    // An admin's token may.
    const admin = open(session, { token: house.adminToken, messages: await initial(session) });
    await admin.addToolApprovalResponse({ id: approval, approved: true });
    await until(() => textOf(admin.messages[1]) === "Wiped.", "the end of the turn");
    await settled(admin);
    await stored(session, admin);
  });

  test("an approval in the chat runs the call and the turn goes on", { skip: !hasApprovals }, async () => {
    const session = newSession();
    const { tag, requests } = model.script([text("I will wipe. "), call("wipe", { disk: 7 })], text("Wiped."));
    const chat = open(session);
    const approval = await waiting(chat, tag);
    assert.equal(chat.finishes.at(-1).finishReason, "tool-calls");
    const { id } = chat.messages[1];
    await chat.addToolApprovalResponse({ id: approval, approved: true, reason: "Go ahead" });
    await until(() => textOf(chat.messages[1]).endsWith("Wiped."), "the end of the turn");
    await settled(chat);
    assert.deepEqual([chat.messages.length, chat.messages[1].id, chat.error], [2, id, undefined]);
    const made = callOf(chat.messages[1], "wipe");
    assert.deepEqual([made.state, made.output, made.approval.approved], ["output-available", "wiped 7", true]);
    assert.match(requests[1].messages.at(-1).content, /wiped 7/);
    const [, answer] = await stored(session, chat);
    assert.deepEqual([answer.metadata.steps, answer.usage.total_tokens], [2, 60]);
    // The reason is in the registry's row.
    assert.deepEqual(callOf(answer, "wipe").approval, { id: approval, approved: true });
    const [decided] = (await api("GET", "/api/approvals?status=approved&limit=200")).approvals.filter(
      (it) => it.id === approval,
    );
    assert.deepEqual([decided.status, decided.reason], ["approved", "Go ahead"]);
    // The conversation goes on.
    const next = model.script(text("You are welcome."));
    await chat.sendMessage({ text: `Thanks ${next.tag}` });
    assert.equal(textOf(chat.messages[3]), "You are welcome.");
    await stored(session, chat);
  });

  test("a denial in the chat is told to the model", { skip: !hasApprovals }, async () => {
    const session = newSession();
    const { tag, requests } = model.script(call("wipe", { disk: 7 }), text("Then not."));
    const chat = open(session);
    const approval = await waiting(chat, tag);
    await chat.addToolApprovalResponse({ id: approval, approved: false, reason: "Too risky" });
    await until(() => textOf(chat.messages[1]) === "Then not.", "the end of the turn");
    await settled(chat);
    const made = callOf(chat.messages[1], "wipe");
    assert.deepEqual([made.state, made.approval.approved, made.approval.reason], ["output-denied", false, "Too risky"]);
    assert.match(requests[1].messages.at(-1).content, /denied.*Too risky/is);
    await stored(session, chat);
  });

  test("two approvals of one step are answered together", { skip: !hasApprovals }, async () => {
    const session = newSession();
    const { tag, requests } = model.script(
      [call("wipe", { disk: 1 }), call("wipe", { disk: 2 }, 1), call("weather", { city: "Oslo" }, 2)],
      text("Half done."),
    );
    const chat = open(session);
    await waiting(chat, tag);
    const asked = chat.messages[1].parts.filter(({ toolName }) => toolName === "wipe");
    assert.deepEqual(
      asked.map(({ state }) => state),
      ["approval-requested", "approval-requested"],
    );
    assert.equal(callOf(chat.messages[1], "weather").state, "output-available");
    await chat.addToolApprovalResponse({ id: asked[0].approval.id, approved: true });
    assert.equal(requests.length, 1);
    await chat.addToolApprovalResponse({ id: asked[1].approval.id, approved: false });
    await until(() => textOf(chat.messages[1]) === "Half done.", "the end of the turn");
    await settled(chat);
    const made = chat.messages[1].parts.filter(({ toolName }) => toolName === "wipe");
    assert.deepEqual(
      made.map(({ state }) => state),
      ["output-available", "output-denied"],
    );
    assert.deepEqual(
      requests[1].messages.slice(-3).map(({ role }) => role),
      ["tool", "tool", "tool"],
    );
    await stored(session, chat);
  });

  test("an approval by REST goes on with the turn, and the client comes back to it", async () => {
    const session = newSession();
    const held = gate();
    const { tag } = model.script(call("wipe", { disk: 3 }), [text("Working"), held.opened, text(" and wiped.")]);
    const chat = open(session);
    const approval = await waiting(chat, tag);
    const { id } = chat.messages[1];
    const result = await decide(approval, "approve");
    assert.equal(result.result, "wiped 3");
    const resumed = chat.resumeStream();
    await until(() => textOf(chat.messages[1]) === "Working", "the first words");
    held.open();
    await resumed;
    assert.deepEqual([chat.status, chat.messages.length, chat.messages[1].id], ["ready", 2, id]);
    const made = callOf(chat.messages[1], "wipe");
    assert.deepEqual([made.state, made.output], ["output-available", "wiped 3"]);
    assert.equal(textOf(chat.messages[1]), "Working and wiped.");
    await stored(session, chat);
    // Nothing is under way any more.
    await chat.resumeStream();
    assert.equal(chat.status, "ready");
  });

  test("a denial by REST goes on with the turn", async () => {
    const session = newSession();
    const held = gate();
    const { tag, requests } = model.script(call("wipe", { disk: 3 }), [held.opened, text("Then not.")]);
    const chat = open(session);
    const approval = await waiting(chat, tag);
    await decide(approval, "deny", { reason: "Not on my watch" });
    await until(() => requests.length === 2, "the request that tells of the denial");
    assert.match(requests[1].messages.at(-1).content, /denied.*Not on my watch/is);
    const resumed = chat.resumeStream();
    held.open();
    await resumed;
    assert.equal(textOf(chat.messages[1]), "Then not.");
    const answer = (await house.messages(session))[1];
    assert.equal(callOf(answer, "wipe").state, "output-denied");
    // Version 5 has no such state: the call has failed there.
    assert.equal(callOf(chat.messages[1], "wipe").state, hasApprovals ? "output-denied" : "output-error");
    if (hasApprovals) await stored(session, chat);
  });

  test(
    "an answer to an approval that was decided meanwhile shows what came of it",
    { skip: !hasApprovals },
    async () => {
      const session = newSession();
      const { tag, requests } = model.script(call("wipe", { disk: 4 }), text("Wiped."));
      const chat = open(session);
      const approval = await waiting(chat, tag);
      await decide(approval, "approve");
      await until(async () => (await house.messages(session))[1].finish_reason === "stop", "the end of the turn");
      // The client still shows the question. Its denial comes too late, and is refused.
      await chat.addToolApprovalResponse({ id: approval, approved: false });
      await until(() => chat.status === "error", "the refusal");
      assert.match(chat.error.message, /CONFLICT|waits/i);
      assert.equal(requests.length, 2);
      const reloaded = open(session, { messages: await initial(session) });
      assert.equal(textOf(reloaded.messages[1]), "Wiped.");
    },
  );

  test("a question for an approval survives a reload of the page", { skip: !hasApprovals }, async () => {
    const session = newSession();
    const { tag } = model.script(call("wipe", { disk: 5 }), text("Wiped."));
    const approval = await waiting(open(session), tag);
    const reloaded = open(session, { messages: await initial(session) });
    await reloaded.resumeStream();
    assert.deepEqual([reloaded.status, reloaded.messages.length], ["ready", 2]);
    await reloaded.addToolApprovalResponse({ id: approval, approved: true });
    await until(() => textOf(reloaded.messages[1]) === "Wiped.", "the end of the turn");
    await settled(reloaded);
    await stored(session, reloaded);
  });
});
