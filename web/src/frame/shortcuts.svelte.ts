// Keys that work everywhere. Letters do nothing while somebody writes; a page may add its own.
import { go } from "../router.svelte";
import { letters, type PageName } from "./places";

type Act = (event: KeyboardEvent) => void;

class Shortcuts {
  help = $state(false);
  palette = $state(false);
  #own = new Map<string, Act>();
  #after = "";

  /** What `key` does while the page that says so is open. */
  add(key: string, act: Act): () => void {
    this.#own.set(key, act);
    return () => this.#own.delete(key);
  }

  hear = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.palette = !this.palette;
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || writing(event.target) || document.querySelector("dialog[open]")) return;
    const before = this.#after;
    this.#after = "";
    if (before === "g") {
      const page = (Object.keys(letters) as PageName[]).find((name) => letters[name] === event.key);
      if (page) go(page);
    } else if (event.key === "g") {
      this.#after = "g";
    } else if (event.key === "?") {
      this.help = true;
    } else if (event.key === "/") {
      const box = document.querySelector<HTMLElement>("#main input[type=search]");
      if (box?.checkVisibility()) {
        event.preventDefault();
        box.focus();
      }
    } else {
      this.#own.get(event.key)?.(event);
    }
  };
}

function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

export const shortcuts = new Shortcuts();
