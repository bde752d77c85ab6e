// Python in colours. Pieces of text with a class each: nothing becomes HTML.

export interface Piece {
  text: string;
  kind: "" | "comment" | "string" | "number" | "keyword" | "call";
}

const TOKEN =
  /(#[^\n]*)|([rbfRBF]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|(\b\d[\w.]*)|(\b(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|False|try|while|with|yield|match|case)\b)|(\b[A-Za-z_]\w*)(?=\s*\()/g;

export function highlight(code: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of code.matchAll(TOKEN)) {
    if (found.index > end) pieces.push({ text: code.slice(end, found.index), kind: "" });
    const kinds = ["comment", "string", "number", "keyword", "call"] as const;
    const which = kinds.findIndex((_, place) => found[place + 1] !== undefined);
    pieces.push({ text: found[0], kind: kinds[which] ?? "" });
    end = found.index + found[0].length;
  }
  if (end < code.length) pieces.push({ text: code.slice(end), kind: "" });
  return pieces;
}
