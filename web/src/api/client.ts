// Requests to our own server. The key is in a cookie that scripts cannot read; failures carry what
// to do about them.
import { t } from "../words/words.svelte";
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Method = Schemas["MethodView"];
export type Session = Schemas["SessionView"];
export type Row = Schemas["RowView"];
export type Turn = Schemas["TurnView"];
export type Call = Schemas["CallView"];
export type Run = Schemas["RunReport"];
export type Approval = Schemas["ApprovalView"];
export type Rule = Schemas["RuleView"];
export type PolicyRule = Schemas["PolicyRuleView"];
export type LimitRow = Schemas["LimitView"];
export type UndeliveredMessage = Schemas["UndeliveredView"];
export type Persona = Schemas["PersonaView"];
export type Model = Schemas["ModelView"];
export type Key = Schemas["KeyView"];
export type Conversation = Schemas["ConversationView"];
export type Part = Schemas["Part"];

/** The session that this page talks in. */
export const OWN = "web:FriendMessage:operator";

export interface List<T> {
  items: T[];
  next: string | null;
}

export class Problem extends Error {
  constructor(
    readonly status: number,
    title: string,
    readonly hint?: string,
    /** What is wrong with single fields, by their place in what was sent. */
    readonly fields: Record<string, string> = {},
  ) {
    super(title);
  }
}

/** How often, and after how many milliseconds, a server that is still starting is asked again. */
const [TRIES, PAUSE] = [60, 500];

async function request<T>(path: string, how: RequestInit, tries = TRIES): Promise<T> {
  // Status 0: nobody answered at all.
  const response = await fetch("/api/" + path, how).catch(() => {
    throw new Problem(0, how.signal?.aborted ? t("stop.cancelled") : t("offline"));
  });
  const text = await response.text();
  const answer = read(text);
  if (response.ok) return answer as T;
  if (response.status === 503 && answer?.type === "starting" && tries) {
    await new Promise((done) => setTimeout(done, PAUSE));
    return request(path, how, tries - 1);
  }
  throw new Problem(response.status, answer?.title ?? (response.statusText || t("failed")), answer?.hint, answer?.fields);
}

function read(text: string) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

function ask<T>(verb: string, path: string, body?: unknown, signal: AbortSignal | null = null): Promise<T> {
  if (body === undefined) return request(path, { method: verb });
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: verb, headers, body: JSON.stringify(body), signal });
}

export const get = <T>(path: string) => ask<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}, signal: AbortSignal | null = null) => ask<T>("POST", path, body, signal);
export const put = <T>(path: string, body: unknown) => ask<T>("PUT", path, body);
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, body);
export const remove = (path: string) => ask<void>("DELETE", path);

/** Sends bytes as they are. */
export const send = <T>(path: string, body: Blob, type: string) => request<T>(path, { method: "POST", headers: { "Content-Type": type }, body });

/** Hands in a file; how code and models will find it. */
export async function upload(session: string, file: File): Promise<string> {
  const name = file.name.replace(/[^\p{L}\p{N}._-]+/gu, "_") || "file";
  const path = `sessions/${encodeURIComponent(session)}/files/uploads/${encodeURIComponent(name)}`;
  return (await request<{ path: string }>(path, { method: "PUT", body: file })).path;
}

/** Everything of a list that comes in pieces. */
export async function getAll<T>(path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const more: string = cursor && `${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor)}`;
    const piece: List<T> = await get(path + more);
    items.push(...piece.items);
    cursor = piece.next;
  }
  return items;
}

/** Where the browser finds a file of a session. */
export function fileUrl(session: string, path: string): string {
  if (!path.startsWith("/app/")) return path;
  const rest = path.slice("/app/".length).split("/").map(encodeURIComponent).join("/");
  return `/api/sessions/${encodeURIComponent(session)}/files/${rest}`;
}
