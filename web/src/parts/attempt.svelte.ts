// Doing something that may fail: whether it is under way, and what went wrong last.
import { Problem } from "../api/client";

export class Attempt {
  busy = $state(false);
  error = $state<unknown>(null);

  /** True if it worked. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    this.error = null;
    try {
      await work();
      return true;
    } catch (problem) {
      this.error = problem;
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** What is wrong with single fields of a form. */
  get fields(): Record<string, string> {
    return this.error instanceof Problem ? this.error.fields : {};
  }
}
