// To the clipboard; browsers offer one to secure pages only, and then the old way is left.

export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Hands a value to the reader as a JSON file. */
export function save(name: string, value: unknown): void {
  const file = new Blob([JSON.stringify(value, null, 2)], { type: "application/json" });
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(file);
  anchor.download = name.replace(/[^\p{L}\p{N}._-]+/gu, "_") + ".json";
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
