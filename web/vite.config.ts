import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// `npm run dev` shows the page of a server that runs on its usual port.
export default defineConfig({
  plugins: [svelte()],
  build: { target: "es2023", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { "/api": "http://127.0.0.1:8420" } },
});
