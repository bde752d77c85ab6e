// Lines of JSON, {label, event} or {label, action, params}, against what is known of NapCat: the npm package
// node-napcat-ts, or with NAPCAT=DIR NapCat's own sources. Prints as JSON how many were
// checked, what was found, what has no type there, and what is there and was not among them.

import fs from "node:fs";

const entries = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const { check } = await import(process.env.NAPCAT ? "./napcat.mjs" : "./sdk.mjs");
const { found, ...rest } = check(entries, process.env.NAPCAT);
console.log(JSON.stringify({ ...rest, found: Object.fromEntries(found) }, null, 1));
