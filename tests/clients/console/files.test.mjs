// Files: edit, history, the way back, conflicts, uploads, differences, branches, and the editor under the strict policy.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { accessible, allow, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";

const WORKSPACE = "console-files";
/** A picture of one pixel. */
const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

let house;
before(async () => {
  house = await openHouse(WORKSPACE);
  // A run before this one may have left its sessions.
  const { sessions } = await house.api("GET", "/api/sessions?limit=200");
  for (const { id } of sessions) await house.api("DELETE", `/api/sessions/${id}`);
});
after(() => house.close());

const headers = { "x-workspace-id": WORKSPACE };

/** Writes a file as another client would, and returns the new state of the session. */
async function put(session, path, contents) {
  const response = await fetch(`${url}/api/sessions/${session}/files${path}`, { method: "PUT", headers, body: contents });
  assert.ok(response.ok, `${response.status}`);
  return response.json();
}

/** The bytes of a file. */
async function read(session, path, manifest = "") {
  const response = await fetch(`${url}/api/sessions/${session}/files${path}${manifest && `?manifest_id=${manifest}`}`, { headers });
  return response.ok ? Buffer.from(await response.arrayBuffer()) : null;
}

const editorOf = (page, path) => page.locator(".editor-host").getByRole("textbox", { name: path, exact: true });

/** Replaces everything in an editor, as a person does it. */
async function type(page, path, text) {
  await editorOf(page, path).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

const seen = (page, text) => page.getByText(text, { exact: false }).first().waitFor();

test("a new session begins with a file, and is deleted after a question", async () => {
  const page = await house.open("files");
  await page.getByRole("heading", { name: "There are no sessions yet" }).waitFor();
  await page.getByRole("button", { name: "New session" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name of the session").fill("first");
  await dialog.getByLabel("Path of the file").fill("data/notes.txt");
  await editorOf(dialog, "Contents").click();
  await page.keyboard.insertText("gas is up\n");
  await dialog.getByRole("button", { name: "Write the file" }).click();
  await editorOf(page, "/data/notes.txt").waitFor();
  assert.equal(String(await read("first", "/data/notes.txt")), "gas is up\n");

  await page.getByRole("link", { name: "Files", exact: true }).first().click();
  await page.getByRole("row", { name: /first/ }).getByRole("button", { name: "Delete first" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Delete first" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the session" }).click();
  await page.getByRole("heading", { name: "There are no sessions yet" }).waitFor();
  assert.deepEqual((await house.api("GET", "/api/sessions")).sessions, []);
  await accessible(page);
  await page.context().close();
});

test("a file is edited; its history shows it; an older state is read-only and comes back", async () => {
  await put("draft", "/src/tool.py", "def run():\r\n    return 1\r\n");
  const old = (await put("draft", "/notes.md", "# Gas\n\nup\n")).manifest_id;
  const page = await house.open("files/draft");
  // By the keyboard alone: into the tree, open a directory, choose a file.
  await page.getByRole("treeitem", { name: "src" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("treeitem", { name: /tool\.py/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await editorOf(page, "/src/tool.py").waitFor();
  assert.equal(await page.getByRole("button", { name: "Save", exact: true }).isDisabled(), true);
  await editorOf(page, "/src/tool.py").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("# seen\n");
  await seen(page, "not saved");
  // A look at another file loses nothing.
  await page.getByRole("treeitem", { name: /notes\.md/ }).click();
  await editorOf(page, "/notes.md").waitFor();
  await page.getByRole("treeitem", { name: /tool\.py/ }).click();
  await editorOf(page, "/src/tool.py").getByText("# seen").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await seen(page, "/src/tool.py was saved");
  // The line breaks of the file are kept.
  assert.equal(String(await read("draft", "/src/tool.py")), "def run():\r\n    return 1\r\n# seen\r\n");

  await page.getByRole("link", { name: "History" }).click();
  const rows = page.getByRole("region", { name: "States of the files" }).getByRole("row");
  await until(async () => (await rows.count()) === 4, "three states and the head");
  await accessible(page);
  await rows.nth(2).getByRole("link", { name: "See the files" }).click();
  await seen(page, "You see an older state of the files");
  await page.getByRole("treeitem", { name: "src" }).click();
  await page.getByRole("treeitem", { name: /tool\.py/ }).click();
  await editorOf(page, "/src/tool.py").waitFor();
  await until(async () => (await editorOf(page, "/src/tool.py").getAttribute("aria-readonly")) === "true", "a read-only editor");
  await editorOf(page, "/src/tool.py").click();
  await page.keyboard.insertText("changed");
  assert.ok(!(await editorOf(page, "/src/tool.py").innerText()).includes("changed"));
  for (const name of ["Save", "New file", "Upload"]) assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
  await accessible(page);

  await page.getByRole("button", { name: "Restore this state" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore this state" }).click();
  await page.getByText("You see an older state of the files").waitFor({ state: "detached" });
  assert.equal((await house.api("GET", "/api/sessions/draft")).active_manifest_id, old);
  assert.equal(String(await read("draft", "/src/tool.py")), "def run():\r\n    return 1\r\n");
  await until(async () => !(await editorOf(page, "/src/tool.py").innerText()).includes("# seen"), "the restored text");
  await page.context().close();
});

test("a change of somebody else meanwhile is told, and neither side is lost", async () => {
  await put("race", "/notes.txt", "one\n");
  const page = await house.open("files/race?path=%2Fnotes.txt");
  await type(page, "/notes.txt", "mine\n");
  await put("race", "/notes.txt", "theirs\n");
  // The page looks by itself, or at the latest when the person saves.
  const save = page.getByRole("button", { name: "Save", exact: true });
  if (await save.isEnabled()) await save.click();
  await seen(page, "Somebody has changed this file while you were editing it");
  assert.equal(String(await read("race", "/notes.txt")), "theirs\n");
  await page.locator(".cm-mergeView").waitFor();
  await accessible(page);
  await pictures(page, "files-conflict");
  await page.getByRole("button", { name: "Save mine over it" }).click();
  await seen(page, "/notes.txt was saved");
  assert.equal(String(await read("race", "/notes.txt")), "mine\n");

  // A file that nobody is editing follows by itself.
  await put("race", "/notes.txt", "theirs again\n");
  await editorOf(page, "/notes.txt").getByText("theirs again").waitFor();
  // A deleted file leaves the draft.
  await type(page, "/notes.txt", "still here\n");
  await house.api("DELETE", "/api/sessions/race/files/notes.txt");
  await seen(page, "Somebody has deleted this file while you were editing it");
  await page.getByRole("button", { name: "Save mine as a new file" }).click();
  await until(async () => String(await read("race", "/notes.txt")) === "still here\n", "the file is back");
  // The browser reports a missing file itself, whatever the page does with it.
  await expectRefusals(page, 404);
  await page.context().close();
});

test("files are uploaded, dropped, shown, downloaded and deleted, byte for byte", async () => {
  await put("box", "/data/seed.txt", "seed");
  const page = await house.open("files/box?path=%2Fdata%2Fseed.txt");
  await editorOf(page, "/data/seed.txt").waitFor();
  const bytes = Buffer.from([0, 255, 1, 254, 13, 10, 0]);
  await page.getByLabel("Files to upload").setInputFiles([
    { name: "raw.bin", mimeType: "application/octet-stream", buffer: bytes },
    { name: "dot.png", mimeType: "image/png", buffer: PIXEL },
  ]);
  await seen(page, "2 files uploaded");
  assert.deepEqual(await read("box", "/data/raw.bin"), bytes);

  await page.getByRole("treeitem", { name: /dot\.png/ }).click();
  const picture = page.getByRole("img", { name: "dot.png" });
  await picture.waitFor();
  assert.equal(await picture.evaluate((it) => it.naturalWidth), 1);

  await page.getByRole("treeitem", { name: /raw\.bin/ }).click();
  await seen(page, "The file is not a text");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  assert.equal(saved.suggestedFilename(), "raw.bin");
  assert.deepEqual(readFileSync(await saved.path()), bytes);

  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["dropped"], "dropped.txt"));
    return transfer;
  });
  await page.dispatchEvent(".browse", "drop", { dataTransfer: dropped });
  await page.getByRole("treeitem", { name: /dropped\.txt/ }).waitFor();
  assert.equal(String(await read("box", "/data/dropped.txt")), "dropped");

  await page.getByRole("treeitem", { name: /raw\.bin/ }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).last().click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the file" }).click();
  await page.getByRole("treeitem", { name: /raw\.bin/ }).waitFor({ state: "detached" });
  assert.equal(await read("box", "/data/raw.bin"), null);
  await accessible(page);
  await page.context().close();
});

test("files that are dropped during an upload are told to wait, and the report stays whole", async () => {
  await put("slow", "/seed.txt", "seed");
  const page = await house.open("files/slow");
  await page.getByRole("treeitem", { name: /seed\.txt/ }).waitFor();
  let goOn;
  const isHeld = new Promise((done) => (goOn = done));
  await page.route("**/files/first.txt", async (route) => {
    await isHeld;
    await route.continue();
  });
  await page.getByLabel("Files to upload").setInputFiles(["first.txt", "second.txt"].map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) })));
  await seen(page, "Uploading 1 of 2 files");
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["dropped"], "dropped.txt"));
    return transfer;
  });
  await page.dispatchEvent(".browse", "drop", { dataTransfer: dropped });
  await seen(page, "Files are being uploaded. Drop these again when the others are done.");
  goOn();
  await seen(page, "2 files uploaded");
  assert.equal(await read("slow", "/dropped.txt"), null);
  await page.context().close();
});

test("an older answer about a directory does not undo a newer one", async () => {
  await put("late", "/box/one.txt", "1");
  const page = await house.open("files/late");
  await page.getByRole("treeitem", { name: "box" }).waitFor();
  let goOn;
  const isHeld = new Promise((done) => (goOn = done));
  let first = true;
  await page.route("**/files/box?*", async (route) => {
    if (!first) return route.continue();
    first = false;
    const old = await route.fetch();
    await isHeld;
    await route.fulfill({ response: old });
  });
  await page.getByRole("treeitem", { name: "box" }).click();
  await until(() => !first, "the first question");
  await put("late", "/box/two.txt", "2");
  await page.getByRole("treeitem", { name: /two\.txt/ }).waitFor();
  const arrived = page.waitForResponse((it) => it.url().includes("/files/box?"));
  goOn();
  await arrived;
  await page.waitForTimeout(200);
  assert.equal(await page.getByRole("treeitem", { name: /two\.txt/ }).count(), 1);
  await page.context().close();
});

test("any two states are compared, line by line and side by side; the last run is told", async () => {
  const first = (await put("diffs", "/a.txt", "one\ntwo\nthree\n")).manifest_id;
  await put("diffs", "/b.json", '{"b": 1}\n');
  const call = await house.api("POST", "/api/execute", { tool_name: "write_file", arguments: { path: "/a.txt", content: "one\n2\nthree\n" }, session_id: "diffs" });
  const page = await house.open("files/diffs?tab=history");
  await page.getByRole("link", { name: "What the last change did" }).click();
  const differences = page.getByRole("region", { name: "Differences of /a.txt" });
  await differences.waitFor();
  assert.match(await differences.innerText(), /-two\n\+2/);
  assert.equal(await page.getByRole("region", { name: "/b.json" }).count(), 0);
  await page.getByRole("button", { name: "Side by side" }).click();
  await page.locator(".cm-mergeView").waitFor();
  await page.getByRole("textbox", { name: "/a.txt: before" }).getByText("two").waitFor();
  await accessible(page);

  await page.getByRole("link", { name: "History" }).click();
  const made = page.getByRole("row").filter({ hasText: "A tool" });
  assert.equal(await made.getByRole("link", { name: call.call_id }).getAttribute("href"), `#/calls/${call.call_id}`);
  await page.getByRole("radio", { name: `Compare from ${first}` }).check();
  const { active_manifest_id: last } = await house.api("GET", "/api/sessions/diffs");
  await page.getByRole("radio", { name: `Compare to ${last}` }).check();
  await page.getByRole("link", { name: "Compare the two" }).click();
  await page.getByRole("region", { name: "Differences of /b.json" }).waitFor();
  assert.ok(page.url().includes(`from=${first}`) && page.url().includes(`to=${last}`), page.url());
  await page.getByRole("button", { name: "Swap" }).click();
  await seen(page, "removed");
  await pictures(page, "files-compare");
  await page.context().close();
});

test("of many long differences the first are open, and the others when somebody wants them", async () => {
  await put("many", "/start.txt", "start\n");
  const first = (await house.api("GET", "/api/sessions/many")).active_manifest_id;
  for (const name of ["a", "b", "c"]) await put("many", `/${name}.txt`, "a line\n".repeat(300));
  const { active_manifest_id: last } = await house.api("GET", "/api/sessions/many");
  const page = await house.open(`files/many?tab=compare&from=${first}&to=${last}`);
  await page.getByRole("region", { name: "Differences of /a.txt" }).waitFor();
  assert.equal(await page.getByRole("region", { name: "Differences of /c.txt" }).count(), 0);
  await page.getByRole("button", { name: "Show the differences of /c.txt" }).click();
  await page.getByRole("region", { name: "Differences of /c.txt" }).waitFor();
  await accessible(page);
  await page.context().close();
});

test("a branch begins with the files of its origin, and goes its own way", async () => {
  await put("trunk", "/a.txt", "one\n");
  await put("trunk", "/a.txt", "two\n");
  const page = await house.open("files/trunk?tab=history");
  const row = page.getByRole("region", { name: "States of the files" }).getByRole("row").nth(2);
  await row.getByRole("button", { name: "Branch" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name of the new session").fill("twig");
  await dialog.getByRole("button", { name: "Make the session" }).click();
  await page.getByRole("heading", { name: "twig", level: 1 }).waitFor();
  await page.getByRole("treeitem", { name: /a\.txt/ }).click();
  await editorOf(page, "/a.txt").getByText("one").waitFor();
  await type(page, "/a.txt", "three\n");
  await page.keyboard.press("Control+s");
  await seen(page, "/a.txt was saved");
  assert.equal(String(await read("twig", "/a.txt")), "three\n");
  assert.equal(String(await read("trunk", "/a.txt")), "two\n");
  await page.context().close();
});

test("the editor has its styles under the strict policy, in light and dark, and Tab leaves it", async () => {
  await put("look", "/tool.py", 'def run(a: int) -> str:\n    # why\n    return "x"\n');
  await put("look", "/doc.md", "# Gas\n\n**up**, see `code`\n");
  await put("look", "/data.json", '{"a": [1, true, null, "x"]}\n');
  await put("look", "/long.py", "x = 1  # one\n".repeat(10_000));
  const page = await house.open("files/look?path=%2Ftool.py");
  const colours = async (text) => {
    const token = editorOf(page, "/tool.py").getByText(text, { exact: true });
    await token.waitFor();
    return token.evaluate((it) => getComputedStyle(it).color);
  };
  const light = await colours("def");
  assert.notEqual(light, await colours("# why"));
  await page.emulateMedia({ colorScheme: "dark" });
  await until(async () => (await colours("def")) !== light, "other colours in the dark");
  await page.emulateMedia({ colorScheme: "light" });
  // The sheets of the shadow root are at work: lines are numbered at the side.
  const [gutter, content] = await Promise.all([page.locator(".cm-gutters").boundingBox(), editorOf(page, "/tool.py").boundingBox()]);
  assert.ok(gutter.x + gutter.width <= content.x + 1, "the gutter is beside the text");

  await editorOf(page, "/tool.py").click();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.shadowRoot != null), false);
  assert.equal(String(await read("look", "/tool.py")), 'def run(a: int) -> str:\n    # why\n    return "x"\n');

  for (const path of ["/doc.md", "/data.json"]) {
    await page.getByRole("treeitem", { name: new RegExp(path.slice(1)) }).click();
    await editorOf(page, path).locator("span").first().waitFor();
  }
  // Markdown can be read as a document too, by a link of its own.
  await page.getByRole("treeitem", { name: /doc\.md/ }).click();
  await page.getByRole("button", { name: "As a document" }).click();
  const document = page.getByRole("region", { name: "/doc.md" }).locator(".markdown");
  await document.getByRole("heading", { name: "Gas" }).waitFor();
  assert.match(page.url(), /view=document/);
  await page.reload();
  await document.locator("strong", { hasText: "up" }).waitFor();
  await accessible(page);
  await pictures(page, "files-document");
  await page.getByRole("button", { name: "As a document" }).click();
  await editorOf(page, "/doc.md").getByText("Gas").waitFor();
  await accessible(page);
  // A long text is shown, without colours.
  await page.getByRole("treeitem", { name: /long\.py/ }).click();
  await editorOf(page, "/long.py").getByText("x = 1").first().waitFor();
  assert.equal(await editorOf(page, "/long.py").locator("span").count(), 0);
  await page.getByRole("treeitem", { name: /tool\.py/ }).click();
  await editorOf(page, "/tool.py").getByText("def", { exact: true }).waitFor();
  await pictures(page, "files");
  await page.context().close();
});

test("a plain field does the same if the editor cannot be loaded", async () => {
  await put("plain", "/notes.txt", "one\r\ntwo\r\n");
  const page = await house.open("files/plain");
  allow(page, /net::ERR_FAILED/);
  await page.route(/\/assets\/code-[^/]*\.js$/, (route) => route.abort());
  await page.getByRole("treeitem", { name: /notes\.txt/ }).click();
  await seen(page, "The editor could not be loaded");
  await page.getByRole("textbox", { name: "/notes.txt", exact: true }).fill("one\nthree\n");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await seen(page, "/notes.txt was saved");
  assert.equal(String(await read("plain", "/notes.txt")), "one\r\nthree\r\n");
  await page.context().close();
});

test("a session that does not exist says so, and what to do", async () => {
  const page = await house.open("files/nowhere");
  allow(page, /status of 404/);
  await page.getByRole("heading", { name: "There is no session nowhere" }).waitFor();
  await page.getByRole("button", { name: "Begin it with a file" }).click();
  assert.equal(await page.getByRole("dialog").getByLabel("Name of the session").inputValue(), "nowhere");
  await page.context().close();
});

test("a guest sees why there are no files here", async () => {
  const { token } = await house.api("POST", "/api/tokens", { name: "files guest", level: "guest" });
  const page = await house.open("files", { token });
  await seen(page, "You may not see or do this");
  await expectRefusals(page, 403);
  assert.equal(await page.getByRole("button", { name: "New session" }).count(), 0);
  await page.context().close();
});

test("a token that is bound to an agent sees only what its agent made", async () => {
  const agent = await house.api("POST", "/api/agents", { name: "Files agent" });
  const { token } = await house.api("POST", "/api/tokens", { name: "files bound", level: "user", agent_id: agent.id });
  await put("theirs", "/a.txt", "one\n");
  const page = await house.open("files/theirs", { token });
  allow(page, /status of 404/);
  await page.getByRole("heading", { name: "There is no session theirs" }).waitFor();
  await page.context().close();
});
