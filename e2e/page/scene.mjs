// A server of our own on a free port with a fresh data directory, and a browser that may speak to
// nobody else. CALLGATE_BIN names the binary; CALLGATE_PAGE a built page to show in place of the one
// that the binary holds, for whoever works on it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { FakeModel } from "./model.mjs";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export class Scene {
  /** Requests to anybody but our server, and whatever the page complained about. */
  outside = [];
  complaints = [];

  /** `refuses`: the model takes no key. `plugins`: names of folders beside this file. `knownAs`: another address at which the browser finds us. */
  static async open({ model = true, refuses = false, config = "", plugins = [], knownAs } = {}) {
    const scene = new Scene();
    scene.bin = process.env.CALLGATE_BIN;
    assert.ok(scene.bin, "CALLGATE_BIN names the binary to test");
    scene.data = mkdtempSync(join(tmpdir(), "callgate-page-"));
    scene.model = model ? await FakeModel.open() : null;
    if (refuses) scene.model.refuses = true;
    scene.port = await freePort();
    scene.origin = `http://127.0.0.1:${scene.port}`;
    const list = scene.model ? `[[models.list]]\nid = "fake"\nbase_url = "${scene.model.url}"\nkey = "none"\nprice = { input = 3.0, output = 15.0 }\n` : "";
    if (config || list) writeFileSync(join(scene.data, "callgate.toml"), `${config}\n${list}`);
    scene.plugins = plugins.map((name) => new URL(`plugins/${name}`, import.meta.url).pathname);
    if (plugins.length) scene.#prepare();
    await scene.start();
    const rules = knownAs ? [`--host-resolver-rules=MAP ${knownAs} 127.0.0.1:${scene.port}`] : [];
    scene.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: [...FLAGS, ...rules] });
    return scene;
  }

  /** What plugins of a flavour need is installed once, where all tests find it. */
  #prepare() {
    execFileSync(this.bin, ["plugin", "check", ...this.plugins], { stdio: "ignore" });
    const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
    symlinkSync(join(cache, "callgate/environments"), join(this.data, "environments"));
  }

  async start() {
    const environment = { PATH: process.env.PATH, HOME: this.data };
    const given = this.plugins.flatMap((path) => ["--plugin", path]);
    this.server = spawn(this.bin, ["serve", "--data", this.data, "--listen", `127.0.0.1:${this.port}`, ...given], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: this.server.stdout });
    await new Promise((done, failed) => {
      this.server.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
      lines.on("line", (line) => {
        const link = /\S+\/login#\S+/.exec(line)?.[0];
        if (link) this.link = link;
        // Printed after the link, which first start alone has.
        if (line.includes("What to try") || (this.link && line.startsWith("data:"))) setTimeout(done, link ? 0 : 50);
      });
    });
  }

  /** As a power cut would. */
  async kill() {
    const gone = new Promise((done) => this.server.once("exit", done));
    this.server.kill("SIGKILL");
    await gone;
  }

  /** A page that is logged in by the printed link. */
  async page(options = {}) {
    const page = await this.blank(options);
    await page.goto(this.link);
    await page.getByRole("textbox", { name: /message|消息|メッセージ/i }).first().waitFor();
    return page;
  }

  async blank(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1200, height: 850 }, locale: "en-US", acceptDownloads: true, ...options });
    // Only a page that was opened by the test may grant this.
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: this.origin });
    if (process.env.CALLGATE_PAGE) await context.route(this.origin + "/**", instead);
    const page = await context.newPage();
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.origin + "/") && !/^(data|blob|about):/.test(url)) this.outside.push(url);
    });
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !/Failed to load resource|ERR_/.test(message.text())) this.complaints.push(message.text());
    });
    page.on("dialog", (dialog) => void dialog.accept());
    return page;
  }

  async close() {
    await this.browser?.close();
    this.model?.close();
    const gone = new Promise((done) => this.server.once("exit", done));
    if (this.server.exitCode === null && this.server.signalCode === null) {
      this.server.kill("SIGTERM");
      await gone;
    }
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** Says it, and waits until the turn is over. */
export async function say(page, text) {
  await page.getByRole("textbox", { name: "Write a message…" }).fill(text);
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText(text).first().waitFor();
}

/** What a page shows when everything it asked for has come, in whatever language. */
const WHOLE = {
  chat: ".welcome, [role=log] article",
  methods: "li a code",
  "methods/builtin/now": "aside dl .card",
  playground: "textarea",
  plugins: ".empty, li a.card",
  "plugins/+": "#source",
  personas: "li a.card",
  "personas/default": ".preview .message",
  models: "li.card",
  "models/+": "#provider option:nth-child(2)",
  overview: "section:has(select) table, section:has(select) p",
  turns: ".empty, tbody tr",
  approvals: ".empty, .ask",
  logs: ".empty, ol summary",
  clients: ".empty, tbody tr",
  keys: "tbody tr",
  timers: ".empty, tbody tr",
  settings: ".setting",
};
export const PAGES = Object.keys(WHOLE);

/** Goes to a page of ours, and waits until it is whole. */
export async function visit(scene, page, where) {
  await page.goto(`${scene.origin}/#/${where}`);
  await page.locator("#main h1, #main h2").first().waitFor();
  const whole = WHOLE[where].split(", ").map((each) => `#main ${each}`).join(", ");
  await page.locator(whole).first().waitFor({ state: "attached" });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What stands in the way of whoever uses the page as it is now, everything unfolded. */
export async function barriers(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
  await page.evaluate(AXE);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], iframes: false }));
  return found.violations.map((each) => `${page.url()}: ${each.id}: ${each.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

export const log = (page) => page.getByRole("log");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Answers with the page under CALLGATE_PAGE, under the policy that the server gives its own. */
async function instead(route) {
  const path = new URL(route.request().url()).pathname;
  const file = join(process.env.CALLGATE_PAGE, ["/", "/login"].includes(path) ? "index.html" : path);
  if (/^\/(api|plugins)\b/.test(path) || !existsSync(file)) return route.fallback();
  const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; media-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  await route.fulfill({ body: readFileSync(file), headers: { "content-type": TYPES[extname(file)], "content-security-policy": policy } });
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}
