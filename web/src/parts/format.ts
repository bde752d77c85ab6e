// Numbers and times as people read them.
import { choice } from "../words/words.svelte";

export function time(micros: number): string {
  if (micros < 1000) return `${micros} µs`;
  if (micros < 1_000_000) return `${(micros / 1000).toFixed(1)} ms`;
  return `${(micros / 1_000_000).toFixed(1)} s`;
}

export function when(at: string): string {
  const date = new Date(at);
  const today = date.toDateString() === new Date().toDateString();
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  const day = { month: "short", day: "numeric" } as const;
  return date.toLocaleString(choice.language, today ? clock : { ...day, ...clock });
}

/** `millionths` of the operator's currency, whatever that is. */
export function money(millionths: number): string {
  return "¤" + (millionths / 1_000_000).toLocaleString(choice.language, { maximumSignificantDigits: 3 });
}
