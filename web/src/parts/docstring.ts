// A docstring in pieces: what it says first, and its sections with their items. Google, NumPy and
// field-list styles are understood; what is not stays text.

export interface Section {
  title: string;
  /** Names with what is said of them, or nothing where it is only text. */
  items: { name: string; text: string }[];
  text: string;
}

export interface Doc {
  text: string;
  sections: Section[];
}

const NAMES = "Args|Arguments|Parameters|Params|Returns|Return|Yields|Raises|Example|Examples|Note|Notes|Warning|Warnings|See Also|Attributes|参数|返回|返回值|示例|例";
const GOOGLE = new RegExp(`^(${NAMES})\\s*[:：]\\s*(.*)$`);
const NUMPY = new RegExp(`^(${NAMES})$`);
const LISTS = /^(Arg|Param|Raise|Attribute|参数)/;
const FIELD = /^:(?:param|parameter|arg)(?:\s+[^:]+?)?\s+(\w+):\s*(.*)$|^:(returns?|raises?)(?:\s+(\w+))?:\s*(.*)$/;

export function docstring(source: string): Doc {
  const lines = dedent(source).split("\n");
  const first: string[] = [];
  const sections: { title: string; lines: string[] }[] = [];
  const fields = { parameters: [] as string[], returns: [] as string[] };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const google = GOOGLE.exec(line);
    const numpy = NUMPY.test(line.trim()) && /^-{3,}$/.test((lines[at + 1] ?? "").trim());
    const field = FIELD.exec(line.trim());
    if (google) sections.push({ title: google[1] ?? "", lines: google[2] ? [google[2]] : [] });
    else if (numpy) sections.push({ title: lines[at++]?.trim() ?? "", lines: [] });
    else if (field?.[1]) fields.parameters.push(`${field[1]}: ${field[2]}`);
    else if (field) fields.returns.push([field[4], field[5]].filter(Boolean).join(": "));
    else (sections.at(-1)?.lines ?? first).push(line);
  }
  if (fields.parameters.length) sections.push({ title: "Args", lines: fields.parameters });
  if (fields.returns.length) sections.push({ title: "Returns", lines: fields.returns });
  return { text: first.join("\n").trim(), sections: sections.map(read) };
}

function read({ title, lines }: { title: string; lines: string[] }): Section {
  const body = dedent(lines.join("\n"));
  if (!LISTS.test(title)) return { title, items: [], text: body };
  const items: Section["items"] = [];
  for (const line of body.split("\n")) {
    const item = /^(\*{0,2}\w[\w.]*)\s*(?:\([^)]*\))?\s*[:：]\s*(.*)$/.exec(line);
    const last = items.at(-1);
    if (item) items.push({ name: item[1] ?? "", text: item[2] ?? "" });
    else if (last && line.trim()) last.text += (last.text ? "\n" : "") + line.trim();
    else if (line.trim()) return { title, items: [], text: body };
  }
  return { title, items, text: "" };
}

/** The first line stands by itself, as Python has it. */
function dedent(text: string): string {
  const lines = text.replaceAll("\t", "    ").split("\n");
  const first = lines[0]?.startsWith(" ") ? 0 : 1;
  const written = lines.slice(first).filter((line) => line.trim());
  const cut = Math.min(...written.map((line) => line.length - line.trimStart().length));
  return lines.map((line, at) => (at < first ? line : line.slice(cut))).join("\n").replace(/^\n+|\s+$/g, "");
}
