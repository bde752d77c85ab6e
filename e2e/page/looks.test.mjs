// For everybody: three languages, light and dark, a phone, a keyboard, a screen reader, a slow line.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Scene, log, say } from "./scene.mjs";

const PAGES = ["chat", "methods", "methods/builtin/now", "playground", "turns", "approvals", "personas", "personas/default", "models", "keys"];
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
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

const settle = async (page, where) => {
  await page.goto(`${scene.origin}/#/${where}`);
  await page.locator("#main h1, #main h2").first().waitFor();
  await page.waitForLoadState("networkidle").catch(() => {});
};

test("from the first start to the first answer, on a page below 150 kB", async () => {
  const page = await scene.blank();
  let size = 0;
  page.on("response", async (response) => {
    const path = new URL(response.url()).pathname;
    if (path.startsWith("/api")) return;
    size += gzipSync(await response.body()).length;
  });
  await page.goto(scene.link);
  await page.getByText("The built-in demo model answers with fixed words.").waitFor();
  await page.getByRole("button", { name: /What time is it in Tokyo/ }).click();
  await log(page).getByRole("article").getByText(/\[offline demo\] It is \d\d:\d\d/).waitFor();
  assert.ok(size > 0 && size < LIMIT, `${size} bytes`);
});

for (const scheme of ["light", "dark"]) {
  test(`nothing stands in anybody's way, ${scheme}`, async () => {
    const page = await scene.page({ colorScheme: scheme, bypassCSP: true });
    for (const where of PAGES) {
      await settle(page, where);
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
      await page.addScriptTag({ path: AXE });
      const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const grave = found.violations.filter((each) => ["serious", "critical"].includes(each.impact));
      const named = grave.map((each) => `${where}: ${each.id}: ${each.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
      assert.deepEqual(named, []);
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
      await settle(page, where);
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
    await settle(page, where);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${where} is ${wide} pixels too wide`);
  }
  await settle(page, "chat");
  await say(page, "What time is it on the phone?");
  await log(page).getByRole("article").getByText(/\[offline demo\] It is/).last().waitFor();
  await page.getByRole("button", { name: "Conversations" }).tap();
  await page.getByRole("button", { name: "+ New conversation" }).tap();
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
