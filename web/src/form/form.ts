// What a schema says about a field: its type, its words in the reader's language, and whether it is
// shown at all. One description serves plugins' settings of every flavour and methods' arguments.
import { get, type List, type Persona } from "../api/client";
import type { ModelEntry, Schema } from "../api/shapes";
import { choice } from "../words/words.svelte";

export type Values = Record<string, unknown>;

/** Where something is secret: only whether there is one. */
export interface Secret {
  $secret: boolean;
}

export function isSecret(value: unknown): value is Secret {
  return typeof value === "object" && value !== null && "$secret" in value;
}

export type Kind = "secret" | "choice" | "many" | "flag" | "number" | "list" | "object" | "text" | "lines" | "any";

/** The schema without `null` beside it. */
export function plain(schema: Schema): Schema {
  const other = schema.anyOf?.filter((each) => each.type !== "null");
  return other?.length === 1 ? { ...schema, ...other[0], anyOf: undefined } : schema;
}

function typeOf(schema: Schema): string {
  return Array.isArray(schema.type) ? (schema.type.find((each) => each !== "null") ?? "") : (schema.type ?? "");
}

export function kindOf(schema: Schema): Kind {
  const ui = schema["x-ui"] ?? {};
  const type = typeOf(schema);
  if (ui.secret && type !== "array") return "secret";
  if (ui.multiple || (type === "array" && schema.items?.enum)) return "many";
  if (schema.enum || ui.select) return type === "array" ? "many" : "choice";
  if (type === "boolean") return "flag";
  if (type === "integer" || type === "number") return "number";
  if (type === "array") return "list";
  if (type === "object") return schema.properties ? "object" : "any";
  if (type === "string") return ui.textarea || ui.language ? "lines" : "text";
  return "any";
}

const inLanguage = (words: Record<string, string> | undefined) =>
  words?.[choice.language] ?? Object.entries(words ?? {}).find(([language]) => language.startsWith(choice.language))?.[1];

export const titleOf = (name: string, schema: Schema) => inLanguage(schema["x-ui"]?.titles) ?? schema.title ?? name;
export const aboutOf = (schema: Schema) => inLanguage(schema["x-ui"]?.descriptions) ?? schema.description ?? "";

/** Fields that are there for what is filled in now. */
export function fieldsOf(schema: Schema, values: Values): [string, Schema][] {
  return Object.entries(schema.properties ?? {})
    .map(([name, field]): [string, Schema] => [name, plain(field)])
    .filter(([, field]) => {
      const { hidden, condition } = field["x-ui"] ?? {};
      return !hidden && Object.entries(condition ?? {}).every(([other, wanted]) => JSON.stringify(at(values, other)) === JSON.stringify(wanted));
    });
}

/** A value by its place; AstrBot names the place with dots. */
function at(values: Values, place: string): unknown {
  return place.split(".").reduce<unknown>((value, step) => (value as Values | undefined)?.[step], values);
}

/** What a new item of a list holds at first. */
export function fresh(schema: Schema): unknown {
  if (schema.default !== undefined) return structuredClone(schema.default);
  switch (kindOf(schema)) {
    case "object":
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, fresh(plain(field))]));
    case "list":
    case "many":
      return [];
    case "flag":
      return false;
    case "number":
      return schema.minimum ?? 0;
    case "any":
      return null;
    default:
      return "";
  }
}

const offers = {
  persona: () => get<List<Persona>>("personas").then((all) => all.items.map((it) => it.name)),
  model: () => get<List<ModelEntry>>("models").then((all) => all.items.filter((it) => !it.embedding).map((it) => it.id)),
  embedding_model: () => get<List<ModelEntry>>("models").then((all) => all.items.filter((it) => it.embedding).map((it) => it.id)),
};

/** What a field may be chosen from. */
export async function choicesOf(schema: Schema): Promise<string[]> {
  const listed = schema.enum ?? schema.items?.enum;
  if (listed) return listed.map(String);
  const select = schema["x-ui"]?.select;
  const offer = select === "provider" ? offers.model : select && select in offers ? offers[select as keyof typeof offers] : null;
  return offer ? offer().catch(() => []) : [];
}
