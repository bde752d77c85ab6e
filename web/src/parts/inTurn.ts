// Answers that overtake each other: whoever asks again while an answer is on its way must not be shown
// the older one last.

/** Does `work` one at a time; what is asked for meanwhile is done once more, after it. */
export function inTurn(work: () => Promise<unknown>): () => Promise<void> {
  let busy: Promise<void> | null = null;
  let stale = false;
  const all = async () => {
    try {
      while (stale) {
        stale = false;
        await work();
      }
    } finally {
      busy = null;
    }
  };
  return () => {
    stale = true;
    return (busy ??= all());
  };
}
