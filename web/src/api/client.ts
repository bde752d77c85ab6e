// Requests to our own server. The key is in a cookie that scripts cannot read; failures carry what
// to do about them.
import type { components } from "./schema";

type Schemas = components["schemas"];
export type Method = Schemas["MethodView"];
export type Session = Schemas["SessionView"];
export type Row = Schemas["RowView"];
export type Turn = Schemas["TurnView"];
export type Call = Schemas["CallView"];
export type Run = Schemas["RunView"];
export type Approval = Schemas["ApprovalView"];
export type Persona = Schemas["PersonaView"];
export type Model = Schemas["ModelView"];
export type Key = Schemas["KeyView"];
export type Conversation = Schemas["ConversationView"];
export type Part = Schemas["Part"];

export interface List<T> {
  items: T[];
  next: string | null;
}

export class Problem extends Error {
  constructor(
    readonly status: number,
    title: string,
    readonly hint?: string,
  ) {
    super(title);
  }
}

async function ask<T>(verb: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch("/api/" + path, {
    method: verb,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : null;
  if (response.ok) return answer as T;
  throw new Problem(response.status, answer?.title ?? response.statusText, answer?.hint);
}

export const get = <T>(path: string) => ask<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => ask<T>("POST", path, body);
export const put = <T>(path: string, body: unknown) => ask<T>("PUT", path, body);
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, body);
export const remove = (path: string) => ask<void>("DELETE", path);

/** Hands in a file; how code and models will find it. */
export async function upload(session: string, file: File): Promise<string> {
  const name = file.name.replace(/[^\p{L}\p{N}._-]+/gu, "_") || "file";
  const path = `/api/sessions/${encodeURIComponent(session)}/files/uploads/${encodeURIComponent(name)}`;
  const response = await fetch(path, { method: "PUT", body: file });
  const answer = await response.json();
  if (!response.ok) throw new Problem(response.status, answer.title, answer.hint);
  return answer.path;
}

/** Where the browser finds a file of a session. */
export function fileUrl(session: string, path: string): string {
  if (!path.startsWith("/app/")) return path;
  const rest = path.slice("/app/".length).split("/").map(encodeURIComponent).join("/");
  return `/api/sessions/${encodeURIComponent(session)}/files/${rest}`;
}
