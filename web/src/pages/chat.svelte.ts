// One session as the chat shows it: what was said, the turns behind it, and the one that runs.
import { get, post, type Call, type List, type Row, type Session } from "../api/client";
import { live, type Happening, type TurnEvent } from "../api/live.svelte";

/** One step of a turn, in the order in which it happened. */
export type Step =
  | { kind: "thought"; text: string }
  | { kind: "text"; text: string }
  | { kind: "code"; code: string; line: number | null }
  | { kind: "output"; text: string }
  | { kind: "error"; text: string }
  | { kind: "call"; call: Call };

interface Whole {
  id: string;
  stop: string | null;
  mode: string;
  rounds: { number: number; reply: { text?: string; reasoning?: string } | null; usage: { input: number; output: number } | null }[];
  calls: Call[];
  runs: { round: number; code: string; report: { stdout?: string; error?: string | null; line?: number | null } | null; calls: Call[] }[];
}

export interface Card {
  steps: Step[];
  stop: string | null;
  input: number;
  output: number;
}

export class ChatSession {
  rows = $state<Row[]>([]);
  older = $state<string | null>(null);
  cards = $state<Record<string, Card>>({});
  running = $state<Card | null>(null);
  info = $state<Session | null>(null);
  error = $state<unknown>(null);

  constructor(readonly key: string) {}

  get #path(): string {
    return `sessions/${encodeURIComponent(this.key)}`;
  }

  /** Reads, then hears what follows, until the returned function is called. */
  open(): () => void {
    void this.read();
    return live.listen((happening) => this.#hear(happening));
  }

  async read() {
    try {
      const [info, log] = await Promise.all([
        get<Session>(this.#path),
        get<List<Row>>(`${this.#path}/log?limit=40`),
      ]);
      this.info = info;
      this.rows = log.items.toReversed();
      this.older = log.next;
      if (!info.answering) this.running = null;
      else this.running ??= empty();
      await this.#readCards();
    } catch (error) {
      this.error = error;
    }
  }

  async readOlder() {
    const log = await get<List<Row>>(`${this.#path}/log?limit=40&cursor=${this.older}`);
    this.rows = [...log.items.toReversed(), ...this.rows];
    this.older = log.next;
    await this.#readCards();
  }

  async say(text: string, parts: unknown[]) {
    this.error = null;
    try {
      await post(`${this.#path}/messages`, { text: text || null, parts, wait: false });
      this.running ??= empty();
      setTimeout(() => void this.read(), 150);
    } catch (error) {
      this.error = error;
    }
  }

  async stop() {
    await post(`${this.#path}/stop`);
  }

  async #readCards() {
    const turns = new Set(this.rows.map((row) => row.turn).filter((it) => it !== null && it !== undefined));
    for (const turn of turns) {
      if (this.cards[turn]?.stop) continue;
      this.cards[turn] = card(await get<Whole>(`turns/${turn}`));
    }
  }

  #hear(happening: Happening | "reset") {
    if (happening === "reset") return void this.read();
    if (happening.session !== this.key) return;
    if (happening.event.message) return void this.read();
    const event = happening.event.turn;
    if (!event) return;
    this.running ??= empty();
    absorb(this.running, event);
    if (event.event === "finished") {
      this.running = null;
      void this.read();
    }
  }
}

function empty(): Card {
  return { steps: [], stop: null, input: 0, output: 0 };
}

function absorb(card: Card, event: TurnEvent) {
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
      card.steps.push({ kind: "code", code: event.code, line: null });
      break;
    case "call":
      card.steps.push({ kind: "call", call: event.call });
      break;
  }
}

/** A recorded turn as the same steps. */
function card(turn: Whole): Card {
  const card = { ...empty(), stop: turn.stop };
  for (const round of turn.rounds) {
    card.input += round.usage?.input ?? 0;
    card.output += round.usage?.output ?? 0;
    if (round.reply?.reasoning) card.steps.push({ kind: "thought", text: round.reply.reasoning });
    for (const run of turn.runs.filter((run) => run.round === round.number)) {
      card.steps.push({ kind: "code", code: run.code, line: run.report?.line ?? null });
      for (const call of run.calls) card.steps.push({ kind: "call", call });
      if (run.report?.stdout) card.steps.push({ kind: "output", text: run.report.stdout });
      if (run.report?.error) card.steps.push({ kind: "error", text: run.report.error });
    }
  }
  for (const call of turn.calls) card.steps.push({ kind: "call", call });
  return card;
}
