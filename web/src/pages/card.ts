// What one turn did, step by step: told live by events, or read from its journal.
import type { Turn } from "../api/client";
import type { TurnEvent } from "../api/live.svelte";
import type { ModelFailure, WholeCall as Call } from "../api/shapes";

export interface Child {
  id: string;
  name: string;
  stop: string | null;
}

/** One step of a turn, in the order in which it happened. */
export type Step =
  | { kind: "thought"; text: string }
  | { kind: "text"; text: string }
  | { kind: "code"; code: string; line: number | null; before: string | null }
  | { kind: "output"; text: string }
  | { kind: "error"; text: string }
  /** A call that is not over yet, told live only. */
  | { kind: "progress"; sequence: number; method: string; done: number; total: number | null; text: string }
  | { kind: "call"; call: Call; child: Child | null };

export interface Card {
  turn: string | null;
  /** Runs of its code; an approval names the run or the turn that waits for it. */
  runs: string[];
  steps: Step[];
  stop: string | null;
  /** Why its model gave no answer. */
  failure: ModelFailure | null;
  input: number;
  output: number;
  /** In millionths; none where no price is known. */
  money: number | null;
  /** From its beginning to its end, in microseconds. */
  micros: number | null;
  /** Turns of agents that no call here began. */
  children: Child[];
}

/** A turn with its journal, as the server tells it. */
export interface Whole extends Turn {
  rounds: {
    number: number;
    request: unknown;
    reply: { text?: string; reasoning?: string } | null;
    usage: { input: number; output: number } | null;
    money: number | null;
    attempts: number;
    asked_at?: string | null;
    answered_at?: string | null;
  }[];
  calls: Call[];
  runs: {
    run: string;
    round: number;
    code: string;
    report: { stdout?: string; error?: string | null; line?: number | null } | null;
    calls: Call[];
  }[];
  children: Turn[];
}

export function empty(): Card {
  return { turn: null, runs: [], steps: [], stop: null, failure: null, input: 0, output: 0, money: null, micros: null, children: [] };
}

export function absorb(card: Card, event: TurnEvent): void {
  const last = card.steps.at(-1);
  switch (event.event) {
    case "text":
    case "thought":
    case "output":
      if (last?.kind === event.event) last.text += event.text;
      else card.steps.push({ kind: event.event, text: event.text });
      break;
    case "restarted":
      while (["text", "thought"].includes(card.steps.at(-1)?.kind ?? "")) card.steps.pop();
      break;
    case "code":
      // The words it came in are shown as code from now on.
      if (last?.kind === "text") card.steps.pop();
      pushCode(card, event.code, null);
      break;
    case "progress": {
      const { sequence, method, done } = event;
      const step: Step = { kind: "progress", sequence, method, done, total: event.total ?? null, text: event.text ?? "" };
      const place = card.steps.findIndex((each) => each.kind === "progress" && each.sequence === sequence);
      card.steps.splice(place < 0 ? card.steps.length : place, place < 0 ? 0 : 1, step);
      break;
    }
    case "call": {
      const place = card.steps.findIndex((step) => step.kind === "progress" && shortName(step.method) === shortName(event.call.method));
      if (place >= 0) card.steps.splice(place, 1);
      card.steps.push({ kind: "call", call: event.call, child: null });
      break;
    }
  }
}

/** Without its origin. */
export function shortName(method: string): string {
  return method.split("/").pop() ?? method;
}

/** A recorded turn as the same steps. What was said in the end is a message of its own. */
export function recorded(turn: Whole): Card {
  const card = empty();
  card.turn = turn.id;
  card.runs = turn.runs.map((run) => run.run);
  card.stop = turn.stop ?? null;
  card.failure = turn.failure ?? null;
  card.micros = turn.ended_at ? (Date.parse(turn.ended_at) - Date.parse(turn.started_at)) * 1000 : null;
  card.children = turn.children.map((child) => ({ id: child.id, name: child.persona ?? child.model, stop: child.stop ?? null }));
  for (const round of turn.rounds) {
    card.input += round.usage?.input ?? 0;
    card.output += round.usage?.output ?? 0;
    if (round.money !== null) card.money = (card.money ?? 0) + round.money;
    if (round.reply?.reasoning) card.steps.push({ kind: "thought", text: round.reply.reasoning });
    for (const run of turn.runs.filter((run) => run.round === round.number)) {
      pushCode(card, run.code, run.report?.line ?? null);
      for (const call of run.calls) pushCall(card, call);
      if (run.report?.stdout) card.steps.push({ kind: "output", text: run.report.stdout });
      if (run.report?.error) card.steps.push({ kind: "error", text: run.report.error });
    }
  }
  for (const call of turn.calls) pushCall(card, call);
  return card;
}

/** A call of an agent takes the turn that it began, the first of that name which nobody took. */
function pushCall(card: Card, call: Call) {
  const agent = /^agent:([^/]+)\//.exec(call.method)?.[1];
  const place = card.children.findIndex((child) => child.name === agent);
  card.steps.push({ kind: "call", call, child: place < 0 ? null : (card.children.splice(place, 1)[0] ?? null) });
}

/** A retry is shown by how it differs from what was tried before. */
function pushCode(card: Card, code: string, line: number | null) {
  const earlier = card.steps.findLast((step) => step.kind === "code");
  card.steps.push({ kind: "code", code, line, before: earlier?.kind === "code" ? earlier.code : null });
}
