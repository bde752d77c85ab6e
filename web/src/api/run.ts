// Code in the sandbox, told as it runs.
import { post, type Run } from "./client";
import { live, type RunNews } from "./live.svelte";

/** A fresh id; browsers offer one to secure pages only, and random numbers to all. */
function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}

export async function runLive(code: string, signal: AbortSignal, hear: (news: RunNews) => void): Promise<Run> {
  const run = freshId();
  const silent = live.listen((happening) => {
    if (happening !== "reset" && happening.event.run?.run === run) hear(happening.event.run);
  });
  try {
    return await post<Run>("runs", { code, run }, signal);
  } finally {
    silent();
  }
}
