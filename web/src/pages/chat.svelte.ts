// One session as the chat shows it: of its log what belongs to the current conversation, the turns
// behind that, and the one that runs. It changes nothing but by saying, stopping and branching.
import { get, patch, post, type Approval, type Conversation, type List, type Part, type Row, type Session, type Turn } from "../api/client";
import { live, type Happening } from "../api/live.svelte";
import { inTurn } from "../parts/inTurn";
import { absorb, empty, recorded, type Card, type Step, type Whole } from "./card";
import { arranged, textOf, visible, type History, type Item } from "./rows";

const PIECE = 60;
/** Pieces read at once to find the rows of an old conversation. */
const FAR = 8;
const TITLE = 60;

/** The first line, and of a long one as many whole words as there is room for. */
function titleOf(text: string): string {
  const line = text.split("\n")[0] ?? "";
  return line.length <= TITLE ? line : `${line.slice(0, TITLE).replace(/\s+\S*$/, "")}…`;
}

export class ChatSession {
  ready = $state(false);
  info = $state<Session | null>(null);
  error = $state<unknown>(null);
  running = $state<Card | null>(null);
  /** Turns that were seen while they ran: their cards stay open. */
  readonly watched = new Set<string>();
  #rows = $state<Row[]>([]);
  #older = $state<string | null>(null);
  #turns = $state<Turn[]>([]);
  #cards = $state<Record<string, Card>>({});
  #conversation = $state<History | null>(null);
  #other = false;
  /** How many events of turns were heard. */
  #heard = 0;
  /** What was said first here, if the conversation is to be called by it. */
  #title = "";
  /** What was streamed and is now a message: it goes when the message is shown, not before. */
  #said: Step | null = null;
  /** What was sent and is not in the log yet. */
  #sent = $state<Row | null>(null);

  constructor(readonly key: string) {}

  /** Calls of this session that wait for the operator's word. */
  get asked(): Approval[] {
    return this.info?.approvals ?? [];
  }

  get path(): string {
    return `sessions/${encodeURIComponent(this.key)}`;
  }

  get conversation(): Conversation | null {
    return this.#conversation;
  }

  /** Reads, then hears what follows, until the returned function is called. */
  open(): () => void {
    void this.read();
    const silent = live.listen((happening) => this.#hear(happening));
    // What happens on another instance is not told here: it is looked for while a turn is not over.
    const again = setInterval(() => this.#unfinished && void this.look(), 3000);
    return () => {
      silent();
      clearInterval(again);
    };
  }

  get #unfinished(): boolean {
    return this.running !== null || this.asked.length > 0 || this.#visible.some(({ turn }) => turn && this.#cards[turn]?.stop === null);
  }

  #visible = $derived(visible(this.#rows, this.#turns, this.#conversation));

  /** Whether earlier rows of this conversation may be in the log. */
  get older(): boolean {
    const first = this.#rows[0];
    if (!this.#older || !first) return false;
    if (!this.#conversation) return !this.#turns.length;
    const seen = new Set(this.#rows.map((row) => row.turn));
    const copied = this.#conversation.history.some((message) => message.turn && !seen.has(message.turn));
    return copied || Date.parse(first.at) >= Date.parse(this.#conversation.created_at);
  }

  /** The turn that runs, unless it belongs to another conversation of the session. */
  get #here(): Card | null {
    const of = this.#turns.find((turn) => turn.id === this.running?.turn)?.conversation;
    return !of || of === this.#conversation?.id ? this.running : null;
  }

  get items(): Item[] {
    return arranged(this.#visible, this.#cards, this.#here, this.#sent);
  }

  /** Reads the conversation too, though it is the same as before. */
  async readAll(): Promise<void> {
    this.#other = true;
    await this.read();
  }

  readonly read = inTurn(() => this.#readNow());

  async #readNow(): Promise<void> {
    const heard = this.#heard;
    try {
      const session = encodeURIComponent(this.key);
      const [info, log, turns] = await Promise.all([
        get<Session>(this.path),
        get<List<Row>>(`${this.path}/log?limit=${PIECE}`),
        get<List<Turn>>(`turns?session=${session}&limit=200`),
      ]);
      const current = info.current ?? null;
      if (this.#other || current !== (this.#conversation?.id ?? null)) {
        this.#other = false;
        this.#conversation = current ? await get<History>(`conversations/${current}`) : null;
      }
      this.#turns = turns.items;
      this.#merge(log);
      this.info = info;
      for (let piece = 0; piece < FAR && this.older && this.#visible.length < 20; piece++) await this.#readPiece();
      await this.#readCards();
      const now = turns.items.find((turn) => !turn.parent && !turn.stop);
      if (info.answering && now) {
        this.running ??= this.#cards[now.id] ?? empty();
        this.running.turn = now.id;
      } else if (heard === this.#heard) {
        this.running = null;
      } else {
        void this.read();
      }
      await this.#name();
      this.ready = true;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  async readOlder(): Promise<void> {
    try {
      await this.#readPiece();
      await this.#readCards();
    } catch (error) {
      this.error = error;
    }
  }

  /** False if it could not be sent. */
  async say(text: string, parts: Part[]): Promise<boolean> {
    this.error = null;
    const whole: Part[] = text ? [{ type: "text", text }, ...parts] : parts;
    const last = this.#rows.at(-1)?.id ?? 0;
    this.#sent = { id: last, session: this.key, role: "user", sender: null, parts: whole, at: new Date().toISOString(), turn: null, unfinished: false, provenance: null };
    try {
      await post(`${this.path}/messages`, { text: text || null, parts, wait: false });
    } catch (error) {
      this.#sent = null;
      this.error = error;
      return false;
    }
    this.#title = titleOf(text);
    for (const wait of [120, 600, 2000]) setTimeout(() => this.#sent && void this.read(), wait);
    return true;
  }

  /** A conversation is called by what was said first in it. */
  async #name() {
    const [conversation, title] = [this.#conversation, this.#title];
    if (!conversation || !title) return;
    this.#title = "";
    if (conversation.title) return;
    await patch(`conversations/${conversation.id}`, { title });
    conversation.title = title;
  }

  /** Goes on in a copy that ends before `turn`; the whole copy where none is named. */
  async branch(turn: string | null): Promise<void> {
    const id = this.#conversation?.id;
    if (!id) return;
    const whole = await get<History>(`conversations/${id}`);
    const first = whole.history.find((message) => message.turn === turn);
    // A turn that failed left nothing behind: there is nothing to leave out.
    if (turn && !first) return;
    const upto = first ? first.position - 1 : null;
    const copy = await post<Conversation>(`conversations/${id}/fork`, { upto });
    if (upto === 0) await patch(`conversations/${copy.id}`, { title: "" });
    await this.readAll();
  }

  /** An empty conversation becomes the current one. */
  async fresh(): Promise<void> {
    // What was just sent first finds its place in the conversation that is left.
    for (let wait = 0; this.#sent && wait < 10; wait++) {
      await new Promise((done) => setTimeout(done, 150));
      await this.read();
    }
    if (!this.items.length) return;
    await post<Conversation>("conversations", { session: this.key });
    await this.readAll();
  }

  async stop(): Promise<void> {
    await post(`${this.path}/stop`).catch((error) => (this.error = error));
  }

  /** Reads how the session is, and what follows from it only where a turn began or ended unheard. */
  readonly look = inTurn(async () => {
    const info = await get<Session>(this.path).catch(() => null);
    if (!info) return;
    this.info = info;
    if (!info.answering || !this.running?.steps.length) await this.read();
  });

  async #readPiece() {
    const log = await get<List<Row>>(`${this.path}/log?limit=${PIECE}&cursor=${this.#older}`);
    this.#rows = [...log.items.toReversed(), ...this.#rows];
    this.#older = log.next;
  }

  #merge(log: List<Row>) {
    const fresh = log.items.toReversed();
    const first = fresh[0]?.id ?? 0;
    const overlap = this.#rows.some((row) => row.id === first);
    if (overlap) {
      this.#rows = [...this.#rows.filter((row) => row.id < first), ...fresh];
    } else {
      this.#rows = fresh;
      this.#older = log.next;
    }
    const place = this.#said ? (this.running?.steps.indexOf(this.#said) ?? -1) : -1;
    if (place >= 0) this.running?.steps.splice(place, 1);
    this.#said = null;
    const sent = this.#sent;
    if (sent && fresh.some((row) => row.role === "user" && row.id > sent.id)) this.#sent = null;
  }

  async #readCards() {
    const turns = new Set(this.#visible.map(({ turn }) => turn));
    const wanted = this.#turns.filter((turn) => turns.has(turn.id) && turn.conversation && !this.#cards[turn.id]?.stop);
    const cards = await Promise.all(wanted.map((turn) => get<Whole>(`turns/${turn.id}`).then(recorded)));
    for (const card of cards) if (card.turn) this.#cards[card.turn] = card;
  }

  #hear(happening: Happening | "reset") {
    if (happening === "reset") return void this.read();
    if (happening.session !== this.key) return;
    const { message, approval, turn: event } = happening.event;
    if (approval) return void this.look();
    if (message) {
      const last = this.running?.steps.at(-1);
      if (last?.kind === "text" && textOf(message.parts).trim() === last.text.trim()) this.#said = last;
      return void this.read();
    }
    if (!event) return;
    this.#heard++;
    if (event.event === "finished") {
      this.watched.add(event.report.turn);
      const last = this.running?.steps.at(-1);
      if (last?.kind === "text") this.#said = last;
      return void this.read();
    }
    this.running ??= empty();
    absorb(this.running, event);
    if (event.event === "round" && event.number === 1) void this.read();
  }
}
