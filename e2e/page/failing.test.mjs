// A model that gives no answer: seen before anybody asks, told in the reader's language, and with ways on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { say, Scene, visit } from "./scene.mjs";

let scene, page;
const failed = (page) => page.getByRole("log").getByRole("alert");

before(async () => {
  scene = await Scene.open({ refuses: true, config: "" });
  page = await scene.page();
});
after(async () => {
  await scene?.close();
  assert.deepEqual(scene?.complaints, []);
});

test("a key that is refused is told of before anybody asks", async () => {
  await page.getByRole("alert").getByText("does not accept this model's key").waitFor();
  await visit(scene, page, "models");
  await page.getByText("key refused", { exact: true }).waitFor();
  await page.getByText("Incorrect API key provided").waitFor();
  await visit(scene, page, "chat");
});

test("what happened is told, with its ways on, also after a reload", async () => {
  await say(page, "Good morning");
  await failed(page).getByText("fake did not answer").waitFor();
  await failed(page).getByText("The provider does not accept the key.", { exact: false }).waitFor();
  assert.equal(await page.getByRole("log").getByText("The model could not answer").count(), 0, "once, and not in two ways");
  await page.reload();
  await failed(page).getByText("What the provider said").click();
  await failed(page).getByText("Incorrect API key provided").waitFor();
  assert.match(await failed(page).getByRole("link", { name: "Models" }).getAttribute("href"), /models/);
});

for (const [locale, words, again] of [["zh-CN", "服务商不接受密钥", "重试"], ["ja-JP", "プロバイダーがキーを受け付けません", "再試行"]]) {
  test(`it is told in the reader's language: ${locale}`, async () => {
    const other = await scene.page({ locale });
    await failed(other).getByText(words, { exact: false }).waitFor();
    await failed(other).getByRole("button", { name: again }).waitFor();
    await other.close();
  });
}

test("trying again answers once the key is taken", async () => {
  scene.model.refuses = false;
  await failed(page).getByRole("button", { name: "Try again" }).click();
  await page.getByRole("log").getByText("A plain answer.").waitFor();
});
