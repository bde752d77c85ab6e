// What happens on the server, as it happens. The browser reconnects by itself and says what it saw
// last; `reset` means that something was missed and pages should read anew.
import type { Approval, Call, Part } from "./client";
import type { Job, LogLine, WholeCall } from "./shapes";

export type TurnEvent =
  | { event: "round"; number: number; mode?: "code" | "tools" }
  | { event: "text"; text: string }
  | { event: "thought"; text: string }
  | { event: "restarted" }
  | { event: "code"; code: string }
  | { event: "output"; text: string }
  | { event: "progress"; sequence: number; method: string; done: number; total?: number | null; text?: string | null }
  | { event: "call"; call: Call }
  | { event: "finished"; report: { turn: string; stop: string | null } };

/** What code in the playground does. */
export interface RunNews {
  run: string;
  output?: string | null;
  call?: WholeCall | null;
}

export interface Happening {
  session: string | null;
  event: {
    turn?: TurnEvent;
    message?: { session: string; parts: Part[] };
    approval?: Approval;
    run?: RunNews;
    job?: { id: string; state: Job["state"]; progress: Job["progress"]; line: string | null };
    log?: LogLine;
    /** Something changed there: read again. */
    clients?: object;
    plugins?: object;
    models?: object;
    rules?: object;
    platforms?: object;
  };
}

type Hear = (happening: Happening | "reset") => void;

/** Milliseconds until a stream that was closed for good is opened again. */
const AGAIN = 2000;
/** Milliseconds for which a tab that nobody sees goes on listening. */
const UNSEEN = 60_000;

interface Ears {
  opened: () => void;
  lost?: () => void;
  heard: (happening: Happening) => void;
  /** Something was missed. */
  reset?: () => void;
}

/** Hears until the returned function is called, whatever ends the stream in between. */
function stream(path: string, ears: Ears): () => void {
  let source: EventSource;
  let again = 0;
  const open = () => {
    source = new EventSource(path);
    source.onopen = ears.opened;
    source.onmessage = (message) => ears.heard(JSON.parse(message.data));
    source.addEventListener("reset", () => ears.reset?.());
    source.onerror = () => {
      ears.lost?.();
      // As when the server was away for long: the browser gives up, we do not.
      if (source.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN);
    };
  };
  open();
  return () => {
    clearTimeout(again);
    source.close();
  };
}

class Live {
  connected = $state(true);
  #close: (() => void) | null = null;
  /** Whether anything was heard before. */
  #again = false;
  #ears = new Set<Hear>();
  #unseen = 0;

  constructor() {
    // Browsers keep few connections to one server: tabs that nobody looks at leave them to others.
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#unseen);
      if (!document.hidden) this.#open();
      else this.#unseen = setTimeout(() => this.#pause(), UNSEEN);
    });
  }

  /** Hears until the returned function is called. */
  listen(hear: Hear): () => void {
    this.#ears.add(hear);
    this.#open();
    return () => this.#ears.delete(hear);
  }

  #open() {
    if (!this.#ears.size) return;
    this.#close ??= stream("/api/events", {
      opened: () => {
        this.connected = true;
        if (this.#again) this.#tell("reset");
        this.#again = true;
      },
      lost: () => (this.connected = false),
      heard: (happening) => this.#tell(happening),
      reset: () => this.#tell("reset"),
    });
  }

  #pause() {
    this.#close?.();
    this.#close = null;
  }

  #tell(happening: Happening | "reset") {
    for (const hear of this.#ears) hear(happening);
  }
}

export const live = new Live();

/** Lines of the log as they are written; told to those who ask for them alone, since they are many.
 * What was written before is to be read when the stream is `opened`, or lines between are missed. */
export function hearLogs(opened: () => void, hear: (line: LogLine) => void): () => void {
  return stream("/api/events?topics=logs", { opened, heard: ({ event }) => event.log && hear(event.log) });
}
