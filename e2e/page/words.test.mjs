// Every word of the page in every language: the same keys, the same blanks to fill in, nothing empty.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../web/src/", import.meta.url);

function words(language) {
  const found = {};
  for (const file of readdirSync(new URL(`words/${language}/`, ROOT))) {
    const text = readFileSync(new URL(`words/${language}/${file}`, ROOT), "utf8");
    for (const [, key, value] of text.matchAll(/^ {2}"([^"]+)": (".*"),$/gm)) found[key] = JSON.parse(value);
  }
  return found;
}

const en = words("en");
const inText = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
/** Before `|` stand the words for one; both have the same blanks. */
const blanks = (text) => {
  const [one, many = one] = text.split("|").map(inText);
  assert.deepEqual(one, many, text);
  return many;
};

for (const language of ["zh", "ja"]) {
  test(`no word is missing in ${language}`, () => {
    const other = words(language);
    assert.deepEqual(Object.keys(other).sort(), Object.keys(en).sort());
    for (const [key, text] of Object.entries(other)) {
      assert.ok(text.trim(), key);
      assert.deepEqual(blanks(text), blanks(en[key]), key);
    }
  });
}

test("every word that the page says is there, and every word is said", () => {
  const sources = readdirSync(ROOT, { recursive: true }).filter((name) => /\.(svelte|ts)$/.test(name) && !name.startsWith("words/"));
  const all = sources.map((name) => readFileSync(new URL(name, ROOT), "utf8")).join("\n");
  const said = new Set([...all.matchAll(/\bt\(\s*"([^"]+)"/g)].map(([, key]) => key));
  assert.deepEqual([...said].filter((key) => !(key in en)), []);
  const joined = [...all.matchAll(/`([\w.]+)\.\$\{/g), ...all.matchAll(/\bword\("([\w.]+)"/g)].map(([, prefix]) => prefix + ".");
  const unsaid = Object.keys(en).filter((key) => !said.has(key) && !all.includes(`"${key}"`) && !joined.some((prefix) => key.startsWith(prefix)));
  assert.deepEqual(unsaid, []);
});
