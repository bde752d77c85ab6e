import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

/** Beside each file the same one compressed: the server hands it out, and compresses nothing itself. */
const packed: Plugin = {
  name: "packed",
  apply: "build",
  writeBundle({ dir = "dist" }, bundle) {
    for (const name of Object.keys(bundle)) {
      const file = join(dir, name);
      const [plain, small] = [readFileSync(file), gzipSync(readFileSync(file), { level: 9 })];
      if (small.length < plain.length * 0.9) writeFileSync(`${file}.gz`, small);
    }
  },
};

// `npm run dev` shows the page of a server that runs on its usual port.
export default defineConfig({
  plugins: [svelte(), packed],
  build: { target: "es2023", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { "/api": "http://127.0.0.1:8420" } },
});
