// The page's words, and in which language they are shown. English comes with the page; another
// language is loaded when it is chosen.
import { en } from "./en";

export type Words = Record<keyof typeof en, string>;

export const languages = { en: "English", zh: "中文", ja: "日本語" } as const;
export type Language = keyof typeof languages;

const others: Record<Language, () => Promise<Words>> = {
  en: async () => en,
  zh: async () => (await import("./zh")).zh,
  ja: async () => (await import("./ja")).ja,
};

function first(): Language {
  const stored = localStorage.getItem("language");
  const wanted = [stored, ...navigator.languages].map((it) => it?.slice(0, 2));
  return (wanted.find((it) => it && it in languages) as Language | undefined) ?? "en";
}

class Choice {
  language = $state<Language>("en");
  words = $state.raw<Words>(en);

  /** What was chosen before, or what the browser asks for. */
  async begin() {
    await this.show(first());
  }

  async choose(language: Language) {
    localStorage.setItem("language", language);
    await this.show(language);
  }

  private async show(language: Language) {
    this.words = await others[language]().catch(() => en);
    this.language = language;
    document.documentElement.lang = language;
  }
}

export const choice = new Choice();

/** The words for `key`; `{name}` is filled in. Before `|` they are for a `count` of one. */
export function t(key: keyof Words, values: Record<string, string | number> = {}): string {
  const [one = "", many = one] = choice.words[key].split("|");
  const text = values.count === 1 ? one : many;
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/** For keys that are put together: what they say, or the last piece where nobody gave words to it. */
export function word(prefix: string, name: string): string {
  const key = `${prefix}.${name}`;
  return key in choice.words ? t(key as keyof Words) : name;
}
