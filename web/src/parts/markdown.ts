// A strict Markdown: text becomes a tree of known kinds and never HTML. What is not understood
// stays text.

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong"; inner: Inline[] }
  | { kind: "em"; inner: Inline[] }
  | { kind: "link"; text: string; href: string };
export type Block =
  | { kind: "paragraph"; inlines: Inline[] }
  | { kind: "heading"; level: number; inlines: Inline[] }
  | { kind: "code"; text: string; language: string }
  /** `depth`: how far in it stands. */
  | { kind: "list"; ordered: boolean; start: number; depth: number; items: Inline[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "quote"; inlines: Inline[] }
  | { kind: "rule" };

// Every repeat is bounded: text that opens and never closes must not cost its length squared.
const INLINE =
  /`([^`\n]{1,1000})`|\*\*([^*\n]{1,1000})\*\*|(?<![\w*])\*([^*\s][^*\n]{0,1000})\*(?!\w)|!?\[([^\]\n]{1,500})\]\((https?:\/\/[^)\s]{1,2000})\)|(https?:\/\/[^\s<>"')\]]{1,2000})/g;

export function inlines(text: string): Inline[] {
  const found: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) found.push({ kind: "text", text: text.slice(end, match.index) });
    const [whole, code, strong, em, label, href, bare] = match;
    if (code !== undefined) found.push({ kind: "code", text: code });
    // What is inside holds no star, so that this goes no deeper.
    else if (strong !== undefined) found.push({ kind: "strong", inner: inlines(strong) });
    else if (em !== undefined) found.push({ kind: "em", inner: inlines(em) });
    else if (href !== undefined) found.push({ kind: "link", text: label ?? href, href });
    else found.push({ kind: "link", text: bare ?? whole, href: bare ?? whole });
    end = match.index + whole.length;
  }
  if (end < text.length) found.push({ kind: "text", text: text.slice(end) });
  return found;
}

const cells = (line: string) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => inlines(cell.trim()));
const isTable = (line: string, next: string) => line.includes("|") && next.includes("-") && next.includes("|") && /^[\s|:-]+$/.test(next);

const DEEPEST = 4;
const CONTINUED = /^\s{2,}\S/;
const MARKED = /^\s*(?:[-*•]|\d+[.)]|```|\||>|#)/;

export function blocks(text: string): Block[] {
  const found: Block[] = [];
  const lines = text.split("\n");
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length) found.push({ kind: "paragraph", inlines: inlines(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const fence = /^\s*```\s*([\w+#.-]{0,30})[^`]*$/.exec(line);
    const heading = /^(#{1,4})\s+(.*)/.exec(line);
    const item = /^(\s*)(?:[-*•]|(\d{1,9})[.)])\s+(.*)/.exec(line);
    if (fence) {
      flush();
      const code: string[] = [];
      while (++at < lines.length && !/^\s*```\s*$/.test(lines[at] ?? "")) code.push(lines[at] ?? "");
      found.push({ kind: "code", text: code.join("\n"), language: fence[1] ?? "" });
    } else if (isTable(line, lines[at + 1] ?? "")) {
      flush();
      const rows: Inline[][][] = [];
      at++;
      while ((lines[at + 1] ?? "").includes("|")) rows.push(cells(lines[++at] ?? ""));
      found.push({ kind: "table", head: cells(line), rows });
    } else if (heading) {
      flush();
      found.push({ kind: "heading", level: heading[1]?.length ?? 1, inlines: inlines(heading[2] ?? "") });
    } else if (item) {
      flush();
      const [, indent = "", number, first = ""] = item;
      const [ordered, depth] = [number !== undefined, Math.min(DEEPEST, Math.floor(indent.replaceAll("\t", "    ").length / 2))];
      // What follows further in, with no mark of its own, still belongs to the item.
      const text = [first];
      while (CONTINUED.test(lines[at + 1] ?? "") && !MARKED.test(lines[at + 1] ?? "")) text.push((lines[++at] ?? "").trim());
      const last = found.at(-1);
      const whole = inlines(text.join("\n"));
      if (last?.kind === "list" && last.ordered === ordered && last.depth === depth) last.items.push(whole);
      else found.push({ kind: "list", ordered, start: Number(number ?? 1), depth, items: [whole] });
    } else if (/^\s*([-*_])(?:\s*\1){2,}\s*$/.test(line)) {
      flush();
      found.push({ kind: "rule" });
    } else if (/^>\s?/.test(line)) {
      flush();
      const quoted = [line];
      while (/^>\s?/.test(lines[at + 1] ?? "")) quoted.push(lines[++at] ?? "");
      found.push({ kind: "quote", inlines: inlines(quoted.map((each) => each.replace(/^>\s?/, "")).join("\n")) });
    } else if (!line.trim()) {
      flush();
    } else {
      paragraph.push(line);
    }
  }
  flush();
  return found;
}
