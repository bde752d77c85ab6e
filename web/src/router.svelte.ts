// Which page is shown: `#/name/rest`. Links are plain, so that back, forward and new tabs work.

class Place {
  path = $state(read());

  constructor() {
    addEventListener("hashchange", () => (this.path = read()));
  }

  get page(): string {
    return this.path[0] ?? "chat";
  }

  /** What follows the page's name. */
  get rest(): string {
    return this.path.slice(1).join("/");
  }
}

function read(): string[] {
  const text = location.hash.replace(/^#\/?/, "");
  return text ? text.split("/").map(decodeURIComponent) : [];
}

export const place = new Place();

export function link(...path: string[]): string {
  return "#/" + path.map(encodeURIComponent).join("/");
}

export function go(...path: string[]): void {
  location.hash = link(...path);
}
