// Values against types: each value becomes a type of its own, and the compiler says whether it can be assigned. What a
// value has beyond the type is no mistake; what it lacks or has otherwise is.

import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** `checks` are {label, value, type}; returns label -> what the compiler says. */
export function mismatches(header, checks, paths = {}) {
  const lines = checks.map(
    ({ value, type }, place) => `declare const v${place}: ${literal(value)}; export const c${place}: ${type} = v${place};`,
  );
  const file = path.join(HERE, "checked.ts");
  const source = [...header, ...lines].join("\n");
  const options = {
    strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler, types: [], baseUrl: HERE, paths, allowImportingTsExtensions: true,
    preserveSymlinks: true,
  };
  const host = ts.createCompilerHost(options);
  const [read, exists] = [host.getSourceFile.bind(host), host.fileExists.bind(host)];
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022, true) : read(name, ...rest);
  host.fileExists = (name) => name === file || exists(name);
  const program = ts.createProgram([file], options, host);
  const checked = program.getSourceFile(file);
  const found = new Map();
  // Mistakes in what it imports are not ours to find.
  for (const { start, messageText } of [
    ...program.getSyntacticDiagnostics(checked),
    ...program.getSemanticDiagnostics(checked),
  ]) {
    const line = checked.getLineAndCharacterOfPosition(start).line - header.length;
    const words = ts.flattenDiagnosticMessageText(messageText, " ").replace(/\s+/g, " ");
    if (line < 0) throw new Error(words);
    const { label } = checks[line];
    found.set(label, [...(found.get(label) ?? []), words]);
  }
  return found;
}

function literal(value) {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${literal(inner)}`)
    .join("; ")} }`;
}
