// Light, dark, or as the system has it.

class Theme {
  chosen = $state(localStorage.getItem("theme") ?? "auto");

  /** Inside an effect: the document looks as chosen, and the next visit does too. */
  apply() {
    document.documentElement.dataset["theme"] = this.chosen;
    localStorage.setItem("theme", this.chosen);
  }
}

export const theme = new Theme();
