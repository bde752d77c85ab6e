// Which rows of a session's log belong to a conversation, and in which order they and the turns behind
// them are shown. Nothing here is kept or asked for.
import type { Conversation, Part, Row, Turn } from "../api/client";
import type { Card } from "./card";

export type Item = { key: string; row: Row; turn: string | null } | { key: string; card: Card; running: boolean };

export interface History extends Conversation {
  history: { position: number; turn: string | null }[];
}

interface Placed {
  row: Row;
  turn: string | null;
}

/** Rows with the turn that each belongs to. Without a conversation the next message begins one;
 * where nobody was ever answered, all that was heard is shown. */
export function visible(rows: Row[], turns: Turn[], conversation: History | null): Placed[] {
  const top = turns.filter((turn) => !turn.parent).map((turn) => ({ id: turn.id, from: Date.parse(turn.started_at), turn }));
  const byId = new Map(top.map((each) => [each.id, each.turn]));
  const copied = new Set(conversation?.history.map((message) => message.turn));
  const begun = Date.parse(conversation?.created_at ?? "1970-01-01");
  const commands = new Set(rows.filter((row) => row.role === "user" && textOf(row.parts).trim() === "/new").map((row) => row.turn));
  const found: Placed[] = [];
  for (const row of rows) {
    const at = Date.parse(row.at);
    // What was answered names no turn: it is of the last one that had begun.
    const turn = row.turn ?? (row.role === "user" ? null : (top.find((each) => each.from <= at)?.id ?? null));
    if (turn && commands.has(turn)) continue;
    const of = turn ? byId.get(turn)?.conversation : null;
    const here = (turn && copied.has(turn)) || (of ? of === conversation?.id : at >= begun);
    if (conversation ? here : !top.length) found.push({ row, turn });
  }
  return found;
}

/** Rows, each turn's card after the last message that it took, and the turn that runs. */
export function arranged(rows: Placed[], cards: Record<string, Card>, running: Card | null, sent: Row | null): Item[] {
  const items: Item[] = [];
  const shown = new Set<string>();
  const cardOf = (turn: string | null) => {
    const card = turn && !shown.has(turn) ? cards[turn] : undefined;
    if (!turn || !card || turn === running?.turn) return;
    shown.add(turn);
    items.push({ key: "card " + turn, card, running: false });
  };
  const lastUser = rows.findLastIndex(({ row }) => row.role === "user");
  rows.forEach(({ row, turn }, at) => {
    if (row.role !== "user") cardOf(turn);
    items.push({ key: `row ${row.id}`, row, turn });
    if (row.role !== "user") return;
    if (!rows.slice(at + 1).some((other) => other.row.role === "user" && other.turn === turn)) cardOf(turn);
    if (at === lastUser && running && !sent) items.push({ key: "running", card: running, running: true });
  });
  if (sent) items.push({ key: "sent", row: sent, turn: null });
  if (running && (sent || lastUser < 0)) items.push({ key: "running", card: running, running: true });
  return items;
}

export function textOf(parts: Part[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
