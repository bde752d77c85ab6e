// Code in the sandbox, told as it runs.
import { post, type Run } from "./client";
import { live, type RunNews } from "./live.svelte";

/** A fresh id that tells when it was made, as the server's own do. */
function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const random = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const hex = Date.now().toString(16).padStart(12, "0") + random;
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-7$3-8$4-$5");
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
