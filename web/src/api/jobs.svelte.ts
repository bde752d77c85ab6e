// Work that takes a while, of this start of the server: read once, then followed by events, whatever page is shown.
import { get, post, type List } from "./client";
import { live, type Happening } from "./live.svelte";
import type { Job } from "./shapes";
import { inTurn } from "../parts/inTurn";

/** Milliseconds between two requests, and lines of a job that are kept. */
const [PAUSE, LINES] = [1000, 500];

class Jobs {
  /** The newest first. */
  all = $state<Job[]>([]);
  #reading = false;
  /** Told of jobs that have come to their end. */
  #ended = new Set<(job: Job) => void>();

  get running(): Job[] {
    return this.all.filter((job) => job.state === "running");
  }

  /** Follows them until the returned function is called. */
  follow(): () => void {
    void this.read();
    return live.listen((happening) => this.#hear(happening));
  }

  onend(told: (job: Job) => void): () => void {
    this.#ended.add(told);
    return () => this.#ended.delete(told);
  }

  add(job: Job) {
    if (!this.all.some((it) => it.id === job.id)) this.all = [job, ...this.all];
  }

  async cancel(job: Job): Promise<void> {
    await post(`jobs/${job.id}/cancel`);
  }

  readonly read = inTurn(async () => {
    this.#reading = true;
    const found = await get<List<Job>>("jobs?limit=50").catch(() => null);
    this.#reading = false;
    if (found) {
      const before = new Set(this.running.map((job) => job.id));
      this.all = found.items;
      for (const job of found.items) if (before.has(job.id) && job.state !== "running") this.#ended.forEach((told) => told(job));
    }
    await new Promise((done) => setTimeout(done, PAUSE));
    // One that could not be read is asked for again: its end is told once.
    if (!found && this.running.length) void this.read();
  });

  /** What a job says and how far it is is told with the event; only its end, and what was missed, is read. */
  #hear(happening: Happening | "reset") {
    if (happening === "reset") return void this.read();
    const news = happening.event.job;
    if (!news) return;
    const job = this.all.find((job) => job.id === news.id);
    if (!job || this.#reading || news.state !== "running") return void this.read();
    job.progress = news.progress;
    if (news.line) job.lines = [...job.lines, news.line].slice(-LINES);
  }
}

export const jobs = new Jobs();
