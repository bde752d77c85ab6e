// What happens on the server, as it happens. The browser reconnects by itself and says what it saw
// last; `reset` means that something was missed and pages should read anew.
import type { Approval, Call, Part } from "./client";
import type { Job, LogLine, WholeCall } from "./shapes";

export type TurnEvent =
  | { event: "round"; number: number }
  | { event: "text"; text: string }
  | { event: "thought"; text: string }
  | { event: "restarted" }
  | { event: "code"; code: string }
  | { event: "output"; text: string }
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
    job?: { id: string; state: Job["state"]; line: string | null };
    log?: LogLine;
    /** Something changed there: read again. */
    clients?: object;
    plugins?: object;
    models?: object;
  };
}

type Hear = (happening: Happening | "reset") => void;

class Live {
  connected = $state(true);
  #source: EventSource | null = null;
  #ears = new Set<Hear>();

  /** Hears until the returned function is called. */
  listen(hear: Hear): () => void {
    this.#ears.add(hear);
    this.#open();
    return () => this.#ears.delete(hear);
  }

  #open() {
    if (this.#source) return;
    const source = new EventSource("/api/events");
    this.#source = source;
    source.onopen = () => {
      const back = !this.connected;
      this.connected = true;
      if (back) this.#tell("reset");
    };
    source.onerror = () => {
      this.connected = false;
      // Closed for good, as when the server was away for long: the browser gives up, we do not.
      if (source.readyState === EventSource.CLOSED) {
        this.#source = null;
        setTimeout(() => this.#open(), 2000);
      }
    };
    source.onmessage = (message) => this.#tell(JSON.parse(message.data));
    source.addEventListener("reset", () => this.#tell("reset"));
  }

  #tell(happening: Happening | "reset") {
    for (const hear of this.#ears) hear(happening);
  }
}

export const live = new Live();

/** Lines of the log as they are written; told to those who ask for them alone, since they are many. */
export function hearLogs(hear: (line: LogLine) => void): () => void {
  const source = new EventSource("/api/events?topics=logs");
  source.onmessage = (message) => {
    const { log } = (JSON.parse(message.data) as Happening).event;
    if (log) hear(log);
  };
  return () => source.close();
}
