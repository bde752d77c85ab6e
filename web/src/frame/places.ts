// Every page there is: where it stands in the menu, and the letter that leads to it after `g`.
import type { Component } from "svelte";

export const groups = [
  { name: null, pages: ["chat"] },
  { name: "frame.build", pages: ["methods", "playground", "plugins", "personas", "models"] },
  { name: "frame.watch", pages: ["overview", "turns", "approvals", "logs"] },
  { name: "frame.keep", pages: ["platforms", "clients", "keys", "timers", "settings"] },
] as const;

export type PageName = (typeof groups)[number]["pages"][number];

export const letters: Record<PageName, string> = {
  chat: "c",
  methods: "m",
  playground: "p",
  plugins: "l",
  personas: "e",
  models: "d",
  overview: "o",
  turns: "t",
  approvals: "a",
  logs: "g",
  platforms: "f",
  clients: "n",
  keys: "k",
  timers: "r",
  settings: "s",
};

/** Pages are loaded when they are first opened: whoever only talks loads the chat alone. */
export const load: Record<PageName, () => Promise<{ default: Component }>> = {
  chat: () => import("../pages/Chat.svelte"),
  methods: () => import("../pages/Methods.svelte"),
  playground: () => import("../pages/Playground.svelte"),
  plugins: () => import("../pages/Plugins.svelte"),
  personas: () => import("../pages/Personas.svelte"),
  models: () => import("../pages/Models.svelte"),
  overview: () => import("../pages/Overview.svelte"),
  turns: () => import("../pages/Turns.svelte"),
  approvals: () => import("../pages/Approvals.svelte"),
  logs: () => import("../pages/Logs.svelte"),
  platforms: () => import("../pages/Platforms.svelte"),
  clients: () => import("../pages/Clients.svelte"),
  keys: () => import("../pages/Keys.svelte"),
  timers: () => import("../pages/Timers.svelte"),
  settings: () => import("../pages/Settings.svelte"),
};

export function isPage(name: string): name is PageName {
  return name in load;
}
