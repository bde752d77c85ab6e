// What NapCat's own sources say: the fields of its event classes by the compiler, messages and the parameters of actions
// by the schemas that it checks them with itself. They are read where they lie; nothing of them runs but the schemas.

import fs from "node:fs";
import path from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import ts from "typescript";
import { mismatches } from "./types.mjs";

const PACKAGE = "packages/napcat-onebot";

export function check(entries, folder) {
  const sources = new Sources(path.resolve(folder, PACKAGE));
  const [found, checks, untyped] = [new Map(), [], []];
  let schemas = 0;
  const byName = sources.actions();
  const apply = (label, schema, value) => {
    schemas += 1;
    // As it does itself: numbers become words and the other way round, where that loses nothing.
    try {
      Value.Parse(schema, structuredClone(value));
    } catch (error) {
      const where = [...Value.Errors(schema, value)].map(({ path, message }) => `${path}: ${message}`);
      found.set(label, where.length ? where.slice(0, 5) : [String(error.message)]);
    }
  };
  for (const { label, event, action, params } of entries) {
    if (action !== undefined) {
      try {
        apply(label, byName.get(action)(), params);
      } catch (error) {
        // No such action, or one whose schema needs what lies in another package.
        untyped.push(`${label}: ${error.message}`);
      }
    } else if (event.message_format) {
      apply(label, sources.value("OB11MessageSchema", "types/message.ts"), event);
    } else {
      const name = sources.classOf(event);
      if (name) checks.push({ label, value: event, type: `Plain<${name}>` });
      else untyped.push(label);
    }
  }
  const header = [
    // What is an enumeration there is a word on the wire.
    "type Plain<T> = { [Name in keyof T]: T[Name] extends string ? `${T[Name]}` : T[Name] };",
    ...[...new Set(checks.map(({ type }) => type.slice(6, -1)))].map(
      (name) => `import type { ${name} } from "${sources.fileOf(name)}";`,
    ),
  ];
  const paths = { "@/napcat-onebot/*": [path.resolve(folder, PACKAGE, "*")] };
  for (const [label, words] of mismatches(header, checks, paths)) found.set(label, words);
  const used = new Set(checks.map(({ type }) => type.slice(6, -1)));
  const segments = new Set(entries.flatMap(({ event }) => (event?.message_format ? event.message : [])).map(({ type }) => type));
  const missing = [
    ...sources.eventClasses().filter((name) => !used.has(name)),
    ...Object.values(sources.value("OB11MessageDataType", "types/message.ts")).filter((kind) => !segments.has(kind)),
  ];
  return { found, untyped, missing, checked: checks.length + schemas };
}

class Sources {
  constructor(root) {
    this.files = new Map();
    for (const name of fs.readdirSync(root, { recursive: true })) {
      if (!name.endsWith(".ts") || name.includes("node_modules")) continue;
      const text = fs.readFileSync(path.join(root, name), "utf8");
      this.files.set(name, ts.createSourceFile(path.join(root, name), text, ts.ScriptTarget.ES2022, true));
    }
    if (!this.files.size) throw new Error(`${root} holds no sources of NapCat`);
    this.values = new Map();
    this.declared = new Map();
    for (const [name, file] of this.files) {
      for (const statement of file.statements) {
        for (const [word, node] of declarations(statement)) {
          this.declared.set(`${name}:${word}`, node);
          if (statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) this.declared.set(word, node);
        }
      }
    }
  }

  /** A constant of a file, or one that some other file exports. */
  value(word, file) {
    const node = this.declared.get(`${file}:${word}`) ?? this.declared.get(word);
    if (!node) throw new ReferenceError(`${word} in ${file}`);
    if (!this.values.has(node)) this.values.set(node, this.evaluate(node, file));
    return this.values.get(node);
  }

  evaluate(node, file) {
    const scope = new Proxy({}, {
      has: (_, word) => typeof word === "string" && !(word in globalThis),
      get: (_, word) => (word === "Type" ? Type : typeof word === "symbol" ? undefined : this.value(word, file)),
    });
    const enumeration = ts.isEnumDeclaration(node);
    const code = ts.transpile(enumeration ? node.getText().replace(/^export /, "") : `(${node.getText()})`);
    return enumeration
      ? new Function(`${code}; return ${node.name.text};`)()
      : new Function("scope", `with (scope) { return ${code} }`)(scope);
  }

  /** Schemas by the name of their action; a class without one has that of the class it extends. */
  actions() {
    const classes = new Map();
    for (const [file, source] of this.files) {
      for (const node of source.statements.filter(ts.isClassDeclaration)) {
        if (node.name) classes.set(node.name.text, { node, file });
      }
    }
    const member = (name, wanted) => {
      const found = classes.get(name);
      if (!found) return undefined;
      const property = found.node.members.find((one) => one.name?.getText() === wanted);
      if (property?.initializer) return { node: property.initializer, file: found.file };
      return member(found.node.heritageClauses?.[0]?.types[0]?.expression.getText(), wanted);
    };
    const schemas = new Map();
    for (const name of classes.keys()) {
      const [action, payload] = [member(name, "actionName"), member(name, "payloadSchema")];
      // Some need what lies in other packages; they are not looked at before somebody asks.
      const schema = () => (payload ? this.evaluate(payload.node, payload.file) : undefined) ?? Type.Object({});
      if (action) schemas.set(this.evaluate(action.node, action.file), schema);
    }
    return schemas;
  }

  /** The class whose fixed words are those of the event. */
  classOf(event) {
    const detail = { notice: "notice_type", request: "request_type", meta_event: "meta_event_type" }[event.post_type];
    for (const [, source] of this.files) {
      for (const node of source.statements.filter(ts.isClassDeclaration)) {
        const word = (wanted) => {
          let value = node.members.find((one) => one.name?.getText() === wanted)?.initializer;
          while (value && ts.isAsExpression(value)) value = value.expression;
          return value && ts.isStringLiteral(value) ? value.text : undefined;
        };
        const fixed = word("sub_type");
        const isPoke = node.name?.text === (event.group_id ? "OB11GroupPokeEvent" : "OB11FriendPokeEvent");
        if (event.sub_type === "poke" ? isPoke : word(detail) === event[detail] &&
            (fixed === undefined || event.notice_type !== "notify" || fixed === event.sub_type)) {
          return node.name.text;
        }
      }
    }
    return undefined;
  }

  /** Those that are reported, not those that others extend. */
  eventClasses() {
    const isAbstract = ({ kind }) => kind === ts.SyntaxKind.AbstractKeyword;
    return [...this.files]
      .filter(([file]) => /^event\/(meta|notice|request)\//.test(file))
      .flatMap(([, source]) => source.statements.filter(ts.isClassDeclaration))
      .filter(({ modifiers = [] }) => modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) && !modifiers.some(isAbstract))
      .map(({ name }) => name.text);
  }

  fileOf(name) {
    for (const [, source] of this.files) {
      if (source.statements.some((one) => ts.isClassDeclaration(one) && one.name?.text === name)) return source.fileName;
    }
    return undefined;
  }
}

function* declarations(statement) {
  if (ts.isEnumDeclaration(statement)) yield [statement.name.text, statement];
  if (!ts.isVariableStatement(statement)) return;
  for (const { name, initializer } of statement.declarationList.declarations) {
    if (initializer && ts.isIdentifier(name)) yield [name.text, initializer];
  }
}
