// What a person must not lose sight of: calls that wait for a word, answers that stand, words that
// were read before a turn was stopped, and an installation under way.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Scene, barriers, log, say, visit } from "./scene.mjs";

let scene, page;
before(async () => {
  scene = await Scene.open({ config: '[approval]\nask = ["remember"]\n' });
  page = await scene.page();
});
after(async () => {
  await scene?.close();
  assert.deepEqual(scene?.outside, [], "nobody else was asked for anything");
  assert.deepEqual(scene?.complaints, [], "the page complained about nothing");
});

const fresh = async (on = page) => {
  await on.getByRole("button", { name: "New conversation" }).click();
  await on.getByRole("heading", { name: "What would you like to try?" }).waitFor();
};
const asked = (on = page) => on.getByRole("region", { name: "Calls waiting for approval" });
const button = (name, on = page) => asked(on).getByRole("button", { name, exact: true });
/** Nothing is being done any more. */
const quiet = (on = page) => on.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
/** For whoever wants to look at it. */
const picture = (on, name) => process.env.PICTURES && on.screenshot({ path: `${process.env.PICTURES}/${name}.png` });
const isInSight = async (locator) => {
  const box = await locator.boundingBox();
  const size = locator.page().viewportSize();
  return box !== null && box.y >= 0 && box.x >= 0 && box.y + box.height <= size.height && box.x + box.width <= size.width;
};

test("a call that waits is seen in the chat: after a reload, in another tab, on a phone", async () => {
  await fresh();
  await say(page, "Please keep my colour");
  await button("Allow").waitFor();
  await asked().getByText("blue").waitFor();
  await picture(page, "asked");
  await page.reload();
  await button("Allow").waitFor();
  await visit(scene, page, "methods");
  await page.getByRole("navigation", { name: "Callgate" }).getByRole("link", { name: "Chat", exact: true }).click();
  await button("Allow").waitFor();

  const other = await page.context().newPage();
  await other.goto(scene.origin);
  await button("Allow", other).waitFor();
  const phone = await scene.blank({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, storageState: await page.context().storageState() });
  await phone.goto(scene.origin);
  await button("Allow", phone).waitFor();
  for (const name of ["Allow", "Always allow here", "Deny", "Never allow here"]) assert.ok(await isInSight(button(name, phone)), `${name} is in sight on a phone`);
  await picture(phone, "asked-phone");
  assert.deepEqual(await barriers(phone), []);
  await visit(scene, phone, "methods");
  await phone.getByRole("link", { name: "Approvals: 1 waiting" }).click();
  await phone.getByRole("button", { name: "Allow", exact: true }).waitFor();

  await button("Allow", other).click();
  await log(page).getByText("Kept.", { exact: true }).waitFor();
  for (const on of [page, other]) await asked(on).waitFor({ state: "detached" });
  await phone.getByText("Nothing is waiting for approval.").waitFor();
  await phone.context().close();
  await other.close();
});

test("a call with long arguments can be answered on a phone", async () => {
  const phone = await scene.blank({ viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true, storageState: await page.context().storageState() });
  await phone.goto(scene.origin);
  await say(phone, "Note my essay");
  await button("Allow", phone).waitFor();
  await asked(phone).getByText(/line 0 of it/).waitFor();
  for (const name of ["Allow", "Always allow here", "Deny", "Never allow here"]) assert.ok(await isInSight(button(name, phone)), `${name} is in sight`);
  await picture(phone, "long-phone");
  assert.deepEqual(await barriers(phone), []);
  const gap = await log(phone).evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
  assert.ok(gap < 60, `what was said last is in sight, too: ${gap}`);
  await button("Deny", phone).click();
  await asked(phone).waitFor({ state: "detached" });
  await quiet(phone);
  await phone.context().close();
});

test("the question stays in sight while one reads further up", async () => {
  await fresh();
  await say(page, "Write something long");
  await log(page).getByRole("button", { name: /^Show all/ }).waitFor();
  await quiet();
  await say(page, "Please keep my colour");
  await button("Deny").waitFor();
  await log(page).hover();
  await page.mouse.wheel(0, -2000);
  await page.getByRole("button", { name: "Jump to the newest message" }).waitFor();
  assert.ok(await isInSight(button("Deny")));
  await button("Deny").click();
  await asked().waitFor({ state: "detached" });
  await quiet();
});

test("whoever stops the turn is not asked any more", async () => {
  await fresh();
  await say(page, "Please keep my colour");
  await button("Allow").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await asked().waitFor({ state: "detached" });
  await page.reload();
  await log(page).getByText("Please keep my colour").waitFor();
  await log(page).getByText("stopped", { exact: true }).waitFor();
  assert.equal(await asked().count(), 0);
});

test("a standing answer is listed with who gave it, and revoked", async () => {
  await fresh();
  await say(page, "Please keep my colour");
  await button("Always allow here").click();
  await log(page).getByText("Kept.", { exact: true }).waitFor();
  await fresh();
  await say(page, "Please keep my colour once more");
  await log(page).getByText("Kept.", { exact: true }).waitFor();

  await visit(scene, page, "approvals");
  const rules = page.getByRole("region", { name: "Saved answers" });
  const rule = rules.getByRole("row", { name: /builtin\/remember.*web:FriendMessage:operator.*always allowed.*key / });
  await rule.waitFor();
  await page.getByRole("region", { name: "Recently answered" }).getByText(/^key /).first().waitFor();
  await picture(page, "rules");
  assert.deepEqual(await barriers(page), []);
  await rule.getByRole("button", { name: "Revoke builtin/remember" }).click();
  await rules.getByText("No saved answers.").waitFor();

  await visit(scene, page, "chat");
  await fresh();
  await say(page, "Please keep my colour again");
  await button("Never allow here").click();
  await asked().waitFor({ state: "detached" });
  await quiet();
  await visit(scene, page, "approvals");
  await rules.getByText("never allowed").waitFor();
  await rules.getByRole("button", { name: "Revoke builtin/remember" }).click();
  await rules.getByText("No saved answers.").waitFor();
  await visit(scene, page, "chat");
});

test("what was read of a stopped answer stays, and says that it was stopped", async () => {
  await fresh();
  await say(page, "Be slow, please");
  await log(page).getByText(/word3 word4/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  const stopped = log(page).locator("article.assistant", { hasText: "Stopped early" });
  await stopped.waitFor();
  await stopped.getByText(/word3 word4/).waitFor();
  assert.equal(await log(page).getByText(/word3 word4/).count(), 1, "once");
  await picture(page, "stopped");
  const text = await stopped.textContent();
  await page.reload();
  await stopped.waitFor();
  assert.equal(await stopped.textContent(), text);
  assert.doesNotMatch(text, /word199/);
  // The model is told what it had said.
  await say(page, "Go on with something else");
  await log(page).getByText("A plain answer.").waitFor();
  assert.match(JSON.stringify(scene.model.requests.at(-1).messages), /stopped before its end.*word3 word4/);
});

test("a stopped answer is part of the conversation also where tools are called", async () => {
  await fresh();
  await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("tools");
  await say(page, "Be slow, please");
  await log(page).getByText(/word3 word4/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await log(page).getByText("Stopped early").waitFor();
  await say(page, "Go on with something else");
  await log(page).getByText("A plain answer.").waitFor();
  const said = scene.model.requests.at(-1).messages.filter((message) => message.role === "assistant");
  assert.match(JSON.stringify(said), /word3 word4/);
  await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("code");
});

test("an installation is followed without asking again and again, and found again", async () => {
  // A server that lets whoever fetches from it wait.
  const waiting = [];
  const slow = createServer((socket) => waiting.push(socket.on("error", () => {})));
  await new Promise((done) => slow.listen(0, "127.0.0.1", done));
  const source = `http://127.0.0.1:${slow.address().port}/plugin.git`;
  const requests = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  const jobs = () => requests.filter((path) => path.startsWith("/api/jobs")).length;

  await visit(scene, page, "plugins/+");
  await page.locator("#source").fill(source);
  await page.locator("form").getByRole("button", { name: "Install" }).click();
  const progress = page.getByRole("region", { name: "Progress" });
  await progress.getByText("in progress").waitFor();
  await pause(4000);
  assert.ok(jobs() <= 4, `${jobs()} requests in four seconds`);

  await visit(scene, page, "methods");
  await page.getByRole("status").getByRole("link", { name: "1 install in progress" }).waitFor();
  await visit(scene, page, "plugins/+");
  await progress.getByText(source, { exact: true }).waitFor();
  await progress.getByText("in progress").waitFor();
  await page.reload();
  await progress.getByText("in progress").waitFor();
  await progress.getByText("Fetching").waitFor();
  // Ended from another tab.
  const other = await scene.page();
  await visit(scene, other, "plugins/+");
  await other.getByRole("region", { name: "Progress" }).getByRole("button", { name: "Cancel" }).click();
  await progress.getByText("cancelled", { exact: true }).waitFor();
  await other.close();

  await page.locator("#source").fill(source);
  await page.locator("form").getByRole("button", { name: "Install" }).click();
  await progress.getByText("in progress").waitFor();
  slow.close();
  for (const socket of waiting) socket.destroy();
  await progress.getByText("failed", { exact: true }).waitFor();
  assert.ok(jobs() <= 12, `${jobs()} requests in all`);
});

test("a turn that has stopped to wait is still asked about, and goes on", async () => {
  const short = await Scene.open({ config: '[approval]\nask = ["remember"]\nwait_seconds = 0\n' });
  try {
    const patient = await short.page();
    await say(patient, "Please keep my colour");
    await button("Allow", patient).waitFor();
    await patient.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await patient.reload();
    await button("Allow", patient).click();
    await log(patient).getByText("Kept.", { exact: true }).waitFor();
    await asked(patient).waitFor({ state: "detached" });
  } finally {
    await short.close();
  }
});

test("people are limited and banned on the page, and it is taken back there", async () => {
  await visit(scene, page, "approvals");
  const limits = page.getByRole("region", { name: "Limits" });
  await limits.getByText("No limits.").waitFor();
  await limits.getByRole("spinbutton", { name: "Limit" }).fill("3");
  await limits.getByRole("textbox", { name: "Role" }).fill("member");
  await limits.getByRole("button", { name: "Add limit" }).click();
  await limits.getByRole("row", { name: /3 messages · per hour.*role=member.*key / }).waitFor();
  await limits.getByRole("combobox", { name: "What is limited" }).selectOption("ban");
  await limits.getByLabel("Until").fill("2999-01-01T00:00");
  await limits.getByRole("textbox", { name: "platform:account" }).fill("onebot:10001");
  await limits.getByRole("button", { name: "Add limit" }).click();
  await limits.getByRole("row", { name: /banned.*person=onebot:10001.*until .*2999.*key / }).waitFor();
  await limits.scrollIntoViewIfNeeded();
  await picture(page, "limits");
  assert.deepEqual(await barriers(page), []);
  const phone = await scene.blank({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true, storageState: await page.context().storageState() });
  await visit(scene, phone, "approvals");
  await phone.getByText("role=member").waitFor();
  await phone.getByRole("region", { name: "Limits" }).scrollIntoViewIfNeeded();
  await picture(phone, "limits-phone");
  assert.deepEqual(await barriers(phone), []);
  await phone.context().close();

  await limits.getByRole("button", { name: /Revoke 3 messages/ }).click();
  await limits.getByText("role=member").waitFor({ state: "detached" });
  await limits.getByRole("button", { name: /Revoke banned/ }).click();
  await limits.getByText("No limits.").waitFor();
});

test("messages that may not have arrived are shown, sent again or dropped, and only then", async () => {
  const insert = `
import sqlite3, sys
rows = [("web:FriendMessage:ann", "Was this read?", "unknown", b"no answer came"), ("web:FriendMessage:bob", "Too long", "failed", b"it is too long"), ("cli:FriendMessage:cid", "On its way", "queued", None)]
with sqlite3.connect(sys.argv[1]) as database:
    for session, text, state, reason in rows:
        parts = '[{"type": "text", "text": "%s"}]' % text
        database.execute("INSERT INTO outbox (session, parts, queued_at, state, reason) VALUES (?, ?, 1, ?, ?)", (session, parts, state, reason))`;
  execFileSync("python3", ["-c", insert, join(scene.data, "callgate.db")]);
  await visit(scene, page, "approvals");
  const undelivered = page.getByRole("region", { name: "Not delivered" });
  await undelivered.getByRole("row", { name: /Was this read\?.*unknown.*no answer came/ }).waitFor();
  await undelivered.getByRole("row", { name: /Too long.*refused.*it is too long/ }).waitFor();
  assert.equal(await undelivered.getByText("On its way").count(), 0);
  await picture(page, "undelivered");
  assert.deepEqual(await barriers(page), []);
  await undelivered.getByRole("button", { name: "Send again: Was this read?" }).click();
  await undelivered.getByText("Was this read?").waitFor({ state: "detached" });
  await undelivered.getByRole("button", { name: "Drop: Too long" }).click();
  await undelivered.waitFor({ state: "detached" });
});
