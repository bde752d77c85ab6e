// What the npm package node-napcat-ts says of NapCat's events and actions.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { mismatches } from "./types.mjs";

const HEADER = [
  'import type { Receive, WSReceiveHandler, WSSendParam } from "node-napcat-ts";',
  'type Event<Name extends keyof WSReceiveHandler> = WSReceiveHandler[Name] extends infer One ? One extends unknown ? Omit<One, "quick_action" | "message" | "message_format"> : never : never;',
];

/** Finds mistakes, and what the package has no type for. */
export function check(entries) {
  const names = known();
  const checks = [];
  const untyped = [];
  for (const { label, event, action, params } of entries) {
    if (action !== undefined) {
      if (names.has(action)) checks.push({ label, value: params, type: `WSSendParam[${JSON.stringify(action)}]` });
      else untyped.push(`${label}: ${action}`);
      continue;
    }
    const name = nameOf(event, names);
    if (name) checks.push({ label, value: event, type: `Event<${JSON.stringify(name)}>` });
    else untyped.push(label);
    for (const segment of event.message_format ? event.message : []) {
      if (segment.type in RECEIVED) checks.push({ label, value: segment, type: `Receive[${JSON.stringify(segment.type)}]` });
      else untyped.push(`${label}: ${segment.type}`);
    }
  }
  const used = new Set(entries.flatMap(({ event }) => (event ? [nameOf(event, names)] : [])));
  const segments = new Set(entries.flatMap(({ event }) => (event?.message_format ? event.message : [])).map(({ type }) => type));
  const missing = [
    ...[...names].filter((name) => /^(message|message_sent|notice|request|meta_event)\./.test(name) && !used.has(name))
      // A name that others begin with is all of them.
      .filter((name) => ![...names].some((other) => other.startsWith(`${name}.`))),
    ...Object.keys(RECEIVED).filter((kind) => !segments.has(kind)),
  ];
  return { found: mismatches(HEADER, checks), untyped, missing, checked: checks.length };
}

/** The names of its events and actions, as they stand in its declarations. */
function known() {
  const index = createRequire(import.meta.url).resolve("node-napcat-ts");
  const words = fs.readFileSync(path.join(path.dirname(index), "Interfaces.d.ts"), "utf8");
  return new Set([...words.matchAll(/^ {4}'?([a-z_A-Z.]+)'?: /gm)].map(([, name]) => name));
}

const RECEIVED = Object.fromEntries(
  "text at image file poke dice rps face reply video record forward json markdown".split(" ").map((kind) => [kind, true]),
);

/** The most exact name that it has. */
function nameOf(event, names) {
  const kind = event.post_type;
  const parts = [kind, event[`${kind.replace("_sent", "")}_type`], event.sub_type].filter(Boolean);
  if (event.sub_type === "poke" || event.sub_type === "input_status") parts.push(event.group_id ? "group" : "friend");
  // A sub type that it does not know is not one of another.
  const name = parts.join(".");
  return names.has(name) ? name : undefined;
}
