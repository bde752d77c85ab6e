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

/** Millionths; the prices that come with us are in US dollars. */
export function money(millionths: number): string {
  const amount = millionths / 1_000_000;
  const digits = amount === 0 || amount >= 0.1 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumSignificantDigits: 3 };
  return "$" + amount.toLocaleString(choice.language, digits);
}

/** Counts: whole below ten thousand, then 12.3k or 4.5M. */
export function count(number: number): string {
  const how = number < 10_000 ? {} : ({ notation: "compact", maximumFractionDigits: 1 } as const);
  return number.toLocaleString(choice.language, how);
}

export function bytes(number: number): string {
  if (number < 1 << 20) return `${Math.round(number / 1024)} kB`;
  if (number < 1 << 30) return `${(number / (1 << 20)).toFixed(number < 10 << 20 ? 1 : 0)} MB`;
  return `${(number / (1 << 30)).toFixed(1)} GB`;
}

/** How long something has been, in its two largest units. */
export function span(seconds: number): string {
  const units: [number, string][] = [[86_400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const first = Math.max(0, units.findIndex(([size]) => seconds >= size));
  let left = Math.max(1, Math.round(seconds));
  return units
    .slice(first, first + 2)
    .map(([size, unit]) => {
      const many = Math.floor(left / size);
      left -= many * size;
      return many ? many.toLocaleString(choice.language, { style: "unit", unit, unitDisplay: "short" }) : "";
    })
    .filter(Boolean)
    .join(" ");
}

/** How far away a moment is: in 5 minutes, 2 hours ago. */
export function away(at: string): string {
  const seconds = (Date.parse(at) - Date.now()) / 1000;
  const units: [number, Intl.RelativeTimeFormatUnit][] = [[86_400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const [size, unit] = units.find(([size]) => Math.abs(seconds) >= size) ?? [1, "second"];
  return new Intl.RelativeTimeFormat(choice.language, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}
