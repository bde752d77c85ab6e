// How two texts differ, line by line.

export interface Line {
  text: string;
  /** Its number in the new text; none for a line that is gone. */
  number: number | null;
  change: "same" | "added" | "gone";
}

/** Beyond this the two are not compared. */
const MOST = 500;

export function difference(before: string, after: string): Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  if (old.length > MOST || now.length > MOST) return now.map((text, at) => ({ text, number: at + 1, change: "same" }));
  // common[i][j]: the most lines that old from i and now from j have in common.
  const common = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i]![j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ text: now[j] ?? "", number: ++j, change: "same" });
      i++;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ text: old[i++] ?? "", number: null, change: "gone" });
    } else {
      lines.push({ text: now[j] ?? "", number: ++j, change: "added" });
    }
  }
  return lines;
}
