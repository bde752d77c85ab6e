// The page's words in each language, and which of them is shown.
import { en } from "./en";
import { ja } from "./ja";
import { zh } from "./zh";

export type Words = { [K in keyof typeof en]: string };

export const languages = { en: "English", zh: "中文", ja: "日本語" } as const;
export type Language = keyof typeof languages;

const all: Record<Language, Words> = { en, zh, ja };

function first(): Language {
  const stored = localStorage.getItem("language");
  const wanted = [stored, ...navigator.languages].map((it) => it?.slice(0, 2));
  return (wanted.find((it) => it && it in all) as Language | undefined) ?? "en";
}

class Choice {
  language = $state<Language>(first());

  choose(language: Language) {
    this.language = language;
    localStorage.setItem("language", language);
    document.documentElement.lang = language;
  }
}

export const choice = new Choice();

/** The words for `key`; `{name}` is filled in. */
export function t(key: keyof Words, values: Record<string, string | number> = {}): string {
  return all[choice.language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}
