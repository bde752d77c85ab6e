// Talking to it: from the printed link to answers, approvals, branches and files.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { Scene, log, say } from "./scene.mjs";

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

const fresh = async () => {
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What would you like to try?" }).waitFor();
};
const conversations = (on = page) => on.getByRole("complementary", { name: "Conversations" });

test("the link leaves no key behind", async () => {
  assert.doesNotMatch(page.url(), /callgate_|login/);
  assert.equal(await page.evaluate(() => document.cookie), "", "scripts see no cookie");
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  assert.doesNotMatch(stored, /callgate_/);
});

test("code that failed is tried again, and the difference is shown", async () => {
  await say(page, "Tell me the cube of some numbers");
  await log(page).getByText("The cubes are [1, 8, 27]", { exact: true }).waitFor();
  const card = log(page).locator("details.turn").last();
  await card.getByText("Details").waitFor();
  await card.getByText("NameError: name 'size' is not defined").waitFor();
  assert.match(await card.locator(".line.mark").textContent(), /for n in size\]/);
  assert.match(await card.locator(".line.gone").textContent(), /in size\]/);
  assert.match(await card.locator(".line.added").textContent(), /in sizes\]/);
  assert.match(await card.locator("summary").first().textContent(), /1 call\b.*240 \+ 68 tokens/s);
  await card.locator("summary", { hasText: "send_message" }).click();
  await card.getByText("Arguments").waitFor();
  await conversations().getByText("Tell me the cube").waitFor();
});

test("a picture that code drew is shown", async () => {
  await fresh();
  await say(page, "Draw a picture");
  const picture = log(page).getByRole("img", { name: "squares.png" });
  await picture.waitFor();
  await page.waitForFunction((it) => it.naturalWidth === 100, await picture.elementHandle());
});

test("a sound that code made can be played", async () => {
  await fresh();
  await say(page, "Make a sound");
  const sound = log(page).locator("audio");
  await sound.waitFor();
  await page.waitForFunction((it) => it.duration === 0.5, await sound.elementHandle());
  await sound.evaluate((it) => it.play());
  await page.waitForFunction((it) => it.ended, await sound.elementHandle());
});

test("a call waits for a word: denied, then allowed", async () => {
  await fresh();
  await say(page, "Please keep my colour");
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await page.getByRole("button", { name: "Deny", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  assert.equal(await log(page).getByText("Kept.", { exact: true }).count(), 0);
  await fresh();
  await say(page, "Please keep my colour again");
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await log(page).getByText("Kept.", { exact: true }).waitFor();
  const card = log(page).locator("details.turn").last();
  await card.getByText("Details").waitFor();
  await card.locator("summary", { hasText: "remember" }).click();
  await log(page).getByText(/^Allowed by/).waitFor();
});

test("an edited message branches, and the old branch is still there", async () => {
  await fresh();
  await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("tools");
  await say(page, "The first thing");
  await log(page).getByText("A plain answer.").waitFor();
  await say(page, "The second thing");
  await log(page).getByText("A plain answer.").nth(1).waitFor();
  const second = log(page).getByRole("article").filter({ hasText: "The second thing" });
  await second.hover();
  await second.getByRole("button", { name: "Edit and branch" }).click();
  await page.getByRole("textbox", { name: "Edit and branch" }).fill("Another thing");
  await page.keyboard.press("Enter");
  await log(page).getByText("Another thing").waitFor();
  await log(page).getByText("A plain answer.").nth(1).waitFor();
  assert.equal(await log(page).getByText("The second thing").count(), 0);
  assert.equal(await log(page).getByText("The first thing").count(), 1);
  const asked = JSON.stringify(scene.model.requests.at(-1).messages.slice(1));
  assert.match(asked, /The first thing.*Another thing/);
  assert.doesNotMatch(asked, /The second thing/);
  await conversations().getByRole("button", { name: "The first thing" }).nth(1).click();
  await log(page).getByText("The second thing").waitFor();
  assert.equal(await log(page).getByText("Another thing").count(), 0);
  await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("code");
});

test("conversations are found, renamed, exported, forked and erased", async () => {
  const side = conversations();
  await side.getByRole("searchbox").fill("cube");
  await side.getByRole("button", { name: "Draw a picture", exact: false }).first().waitFor({ state: "detached" });
  const menu = async (title, word) => {
    await side.getByLabel(`More about ${title}`).first().click();
    await side.getByRole("button", { name: word, exact: true }).locator("visible=true").click();
  };
  await menu("Tell me the cube of some numbers", "Rename");
  await side.getByRole("textbox", { name: "Rename" }).fill("Cubes");
  await page.keyboard.press("Enter");
  await side.getByText("Cubes", { exact: true }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), menu("Cubes", "Export")]);
  const whole = JSON.parse(await readFile(await download.path(), "utf8"));
  assert.equal(whole.title, "Cubes");
  assert.ok(whole.history.length >= 2);
  await side.getByRole("searchbox").fill("");
  await menu("Cubes", "Fork");
  await side.getByText("Cubes", { exact: true }).nth(1).waitFor();
  await log(page).getByText("The cubes are [1, 8, 27]", { exact: true }).waitFor();
  await menu("Cubes", "Delete");
  await side.getByText("Cubes", { exact: true }).nth(1).waitFor({ state: "detached" });
});

test("files come by paste and by drop, and are sent", async () => {
  await fresh();
  const box = page.getByRole("textbox", { name: "Write a message…" });
  for (const [kind, name] of [["paste", "pasted.txt"], ["drop", "dropped.txt"]]) {
    await box.evaluate((node, [kind, name]) => {
      const data = new DataTransfer();
      data.items.add(new File(["words"], name, { type: "text/plain" }));
      const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }) : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
      node.dispatchEvent(event);
    }, [kind, name]);
    await page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  }
  await say(page, "See these");
  await log(page).getByRole("link", { name: "pasted.txt" }).waitFor();
  await log(page).getByRole("link", { name: "dropped.txt" }).waitFor();
});

test("a turn is stopped, by a button or by Escape", async () => {
  await fresh();
  await say(page, "Be slow, please");
  await log(page).getByText(/word3 word4/).waitFor();
  await page.getByRole("textbox", { name: "Write a message…" }).press("Escape");
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  await fresh();
  await say(page, "Be slow");
  await log(page).getByText(/word3 word4/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  assert.equal(await log(page).getByText(/word199/).count(), 0);
});

test("the reader is followed to the end, but not dragged there", async () => {
  await fresh();
  await say(page, "Write something long");
  await log(page).getByRole("button", { name: /^Show all/ }).waitFor();
  const gap = () => log(page).evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
  await page.waitForFunction((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 60, await log(page).elementHandle());
  await log(page).hover();
  await page.mouse.wheel(0, -900);
  await page.getByRole("button", { name: "Jump to the newest message" }).waitFor();
  const at = await log(page).evaluate((node) => node.scrollTop);
  await page.evaluate(() => fetch("/api/sessions/web:FriendMessage:operator/messages", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ text: "said elsewhere" }) }));
  await log(page).getByText("said elsewhere").waitFor({ state: "attached" });
  assert.equal(await log(page).evaluate((node) => node.scrollTop), at);
  await page.getByRole("button", { name: "Jump to the newest message" }).click();
  assert.ok((await gap()) < 60);
});

test("a megabyte of text is shown from its beginning", async () => {
  await fresh();
  const box = page.getByRole("textbox", { name: "Write a message…" });
  await box.evaluate((node) => {
    node.value = "huge ".repeat(200_000);
    node.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await box.press("Enter");
  await log(page).getByRole("article").getByRole("button", { name: /^Show all (1000000|999999) characters/ }).first().waitFor();
  await log(page).getByText("A plain answer.").waitFor();
});

test("hostile text does no harm", async () => {
  await fresh();
  await say(page, "Be hostile <img src=x onerror=window.harmed=1>");
  await log(page).getByText("[a link](javascript:window.harmed=1)").waitFor();
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await log(page).locator('a[href^="javascript"], img[src="x"]').count(), 0);
});

test("lists within lists, rules and code of other languages are shown as they were meant", async () => {
  await fresh();
  await say(page, "Give me a recipe");
  const answer = log(page).locator("article.assistant").last();
  await answer.locator('ol[start="2"] > li', { hasText: "Fry it" }).waitFor();
  assert.equal(await answer.locator("ol").first().locator("li").innerText(), "Chop the onion\ninto small cubes");
  assert.equal(await answer.locator("strong code").textContent(), "cubes");
  assert.deepEqual(await answer.locator("ul li").allTextContents(), ["red", "white"]);
  assert.equal(await answer.locator("hr").count(), 1);
  assert.equal(await answer.locator("pre .comment").count(), 0, "a shell's text is not coloured as Python");
});

test("two tabs stay in step", async () => {
  await fresh();
  const other = await page.context().newPage();
  await other.goto(scene.origin);
  await other.getByRole("heading", { name: "What would you like to try?" }).waitFor();
  await say(page, "Seen in both");
  await log(other).getByText("Seen in both").waitFor();
  await log(other).getByText("A plain answer.").waitFor();
  await other.close();
});

test("an agent's own turn is part of the tree", async () => {
  const put = (body) => fetch("/api/personas/helper", { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).then((it) => it.status);
  assert.equal(await page.evaluate(put, { system_prompt: "You compute.", mode: "tools" }), 200);
  await fresh();
  await say(page, "Use your helper");
  await log(page).getByRole("article").getByText("Forty-two.", { exact: true }).waitFor();
  const card = log(page).locator("details.turn").first();
  const child = card.locator("details.child");
  // It hangs below the call that began it.
  await card.locator(".call", { hasText: "ask_helper" }).locator("details.child").waitFor();
  await child.locator("summary").first().click();
  await child.getByText("Full journal").waitFor();
});

test("a server killed in the middle of a turn: the page comes back with nothing missing", async () => {
  await fresh();
  await say(page, "Be slow once more");
  await log(page).getByText(/word3 word4/).waitFor();
  await scene.kill();
  await page.getByText("The server is not responding. Retrying…").first().waitFor();
  await scene.start();
  await log(page).getByText(/word198 word199/).waitFor({ timeout: 60_000 });
  await page.getByText("The server is not responding. Retrying…").first().waitFor({ state: "detached" });
  assert.equal(await log(page).getByText("Be slow once more").count(), 1);
});
