// For everybody: three languages, light and dark, a phone, a keyboard, a screen reader, a slow line.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { PAGES, Scene, barriers, log, say, visit } from "./scene.mjs";

const LIMIT = 150_000;

let scene;
before(async () => {
  // No model is configured: what a newcomer sees.
  scene = await Scene.open({ model: false });
});
after(async () => {
  await scene?.close();
  assert.deepEqual(scene?.outside, [], "nobody else was asked for anything");
  assert.deepEqual(scene?.complaints, [], "the page complained about nothing");
});

test("from the first start to the first answer, on a page below 150 kB", async () => {
  const page = await scene.blank();
  let size = 0;
  page.on("response", async (response) => {
    const path = new URL(response.url()).pathname;
    if (path.startsWith("/api")) return;
    size += gzipSync(await response.body()).length;
  });
  await page.goto(scene.link);
  await page.getByText("The built-in demo model gives canned answers").waitFor();
  await page.getByRole("button", { name: /What time is it in Tokyo/ }).click();
  await log(page).getByRole("article").getByText(/\[offline demo\] It is \d\d:\d\d/).waitFor();
  assert.ok(size > 0 && size < LIMIT, `${size} bytes`);
});

test("files of the page travel compressed, to whoever can unpack them", async () => {
  const whole = await (await fetch(scene.origin)).text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(whole)[1];
  const get = (encoding) => fetch(scene.origin + script, { headers: { "Accept-Encoding": encoding } });
  const [packed, plain] = await Promise.all([get("gzip, br"), get("identity")]);
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  assert.equal(plain.headers.get("content-encoding"), null);
  assert.equal(await packed.text(), await plain.text());
});

for (const scheme of ["light", "dark"]) {
  test(`nothing stands in anybody's way, ${scheme}`, async () => {
    const page = await scene.page({ colorScheme: scheme });
    for (const where of PAGES) {
      await visit(scene, page, where);
      assert.deepEqual(await barriers(page), []);
    }
  });
}

for (const [language, locale, chat, words] of [
  ["中文", "zh-CN", "对话", /[\u4e00-\u9fff]/],
  ["日本語", "ja-JP", "チャット|会話", /[\u3040-\u30ff]/],
]) {
  test(`everything is said in ${language}`, async () => {
    const page = await scene.page({ locale });
    assert.equal(await page.evaluate(() => document.documentElement.lang), locale.slice(0, 2));
    assert.match(await page.getByRole("navigation").getByRole("link").first().textContent(), new RegExp(chat));
    for (const where of PAGES.filter((each) => !each.includes("/"))) {
      await visit(scene, page, where);
      // A conversation is called by what was said in it, in whatever language.
      const labels = await page.locator("nav a, #main h1:not(.top *), #main h2, #main label, #main th, button.primary").allTextContents();
      const left = labels.map((each) => each.trim()).filter((each) => /^[A-Z][a-z]/.test(each) && !words.test(each));
      assert.deepEqual(left, [], where);
    }
    await page.getByRole("combobox").filter({ hasText: "English" }).selectOption("en");
    await page.getByRole("link", { name: "Playground" }).waitFor();
  });
}

test("a phone shows every page whole", async () => {
  const page = await scene.page({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  for (const where of PAGES) {
    await visit(scene, page, where);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${where} is ${wide} pixels too wide`);
  }
  await visit(scene, page, "chat");
  await say(page, "What time is it on the phone?");
  await log(page).getByRole("article").getByText(/\[offline demo\] It is/).last().waitFor();
  await page.getByRole("button", { name: "Conversations" }).tap();
  await page.getByRole("button", { name: "New conversation" }).tap();
  await page.getByRole("heading", { name: "What would you like to try?" }).waitFor();
  await page.getByRole("button", { name: "Menu" }).tap();
  await page.getByRole("navigation").getByRole("link", { name: "Keys" }).tap();
  await page.getByRole("heading", { name: "Keys" }).waitFor();
});

test("a keyboard is enough", async () => {
  const page = await scene.page();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
  const box = page.getByRole("textbox", { name: "Write a message…" });
  for (let step = 0; step < 30 && !(await box.evaluate((it) => it === document.activeElement)); step++) await page.keyboard.press("Tab");
  await page.keyboard.type("What time is it for a keyboard?");
  await page.keyboard.press("Enter");
  await log(page).getByText("What time is it for a keyboard?").first().waitFor();
});

test("keys lead everywhere", async () => {
  const page = await scene.page();
  await page.locator("#main").focus();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.getByText("Find anything").waitFor();
  assert.equal(await help.getByRole("link", { name: "Documentation" }).getAttribute("href"), "/docs/");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.getByRole("heading", { name: "Methods" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("recall");
  assert.equal(await page.getByRole("searchbox").inputValue(), "recall");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find anything" }).pressSequentially("playg");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Playground" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: /Chat/ }).waitFor();
  await page.getByRole("combobox", { name: "Find anything" }).pressSequentially("now");
  await page.getByRole("option", { name: /^now\b/ }).click();
  await page.getByRole("heading", { name: "now", exact: true }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.getByRole("heading", { name: "What would you like to try?" }).or(page.getByRole("article").first()).first().waitFor();
  await page.keyboard.press("i");
  await page.keyboard.type("What time is it, once more?");
  await page.keyboard.press("Enter");
  const said = log(page).getByRole("article").filter({ hasText: "What time is it, once more?" });
  // It can be edited once the turn is over.
  await said.getByRole("button", { name: "Edit and branch" }).waitFor({ state: "attached" });
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.getByRole("textbox", { name: "Edit and branch" }).inputValue(), "What time is it, once more?");
  await page.keyboard.press("Escape");
});

test("light and dark are chosen and kept", async () => {
  const page = await scene.page({ colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole("combobox", { name: "Theme" }).selectOption("dark");
  assert.notEqual(await ground(), light);
  await page.reload();
  await page.getByRole("navigation").waitFor();
  assert.notEqual(await ground(), light);
});

test("at first start a model that was found is tested, and answers from then on", async () => {
  const first = await Scene.open({ config: '[models]\ndefault = "demo"\n' });
  try {
    const page = await first.page();
    const offer = page.getByRole("region", { name: "Which model should answer?" });
    await offer.getByText("Canned answers; nothing leaves this machine.").waitFor();
    await offer.getByRole("button", { name: "Test" }).click();
    await offer.getByText(/answered in \d+ ms/).waitFor();
    await offer.getByRole("button", { name: "Use it" }).click();
    await page.getByText("fake answers.").waitFor();
    await page.getByRole("button", { name: /Draw a small chart/ }).waitFor();
    await say(page, "Hello");
    await log(page).getByText("A plain answer.").waitFor();
  } finally {
    await first.close();
  }
});
