// What each kind of chat platform is called and asks for. One line here for each kind the server knows.
import type { Platform } from "../api/shapes";

export type KindName = Platform["kind"];

type Field = {
  key: "listen" | "url" | "token";
  /** What it is filled in with, where there is a usual value. */
  usual?: string;
  placeholder?: string;
  required?: boolean;
};
/** One way to connect: some kinds have two. */
type Way = "listen" | "url";
type Kind = { title: string; id: string; ways: Partial<Record<Way, Field[]>> };

const token: Field = { key: "token" };
const needed: Field = { key: "token", required: true };

export const KINDS: Record<KindName, Kind> = {
  onebot: {
    title: "OneBot v11 (QQ)",
    id: "qq",
    ways: {
      listen: [{ key: "listen", usual: "127.0.0.1:6199", required: true }, token],
      url: [{ key: "url", usual: "ws://127.0.0.1:3001", required: true }, token],
    },
  },
  telegram: {
    title: "Telegram",
    id: "telegram",
    ways: { url: [{ key: "token", placeholder: "123456:ABC…", required: true }] },
  },
  matrix: {
    title: "Matrix",
    id: "matrix",
    ways: { url: [{ key: "url", placeholder: "https://matrix.example.org", required: true }, needed] },
  },
  satori: {
    title: "Satori",
    id: "satori",
    ways: { url: [{ key: "url", usual: "http://127.0.0.1:5140", required: true }, token] },
  },
};

export const kindNames = Object.keys(KINDS) as KindName[];
