// Keeps the end of a growing list in sight, but only while the reader is there.

const NEAR = 60;

export class Follow {
  following = $state(true);
  #node: HTMLElement | null = null;

  /** Attached to the element that scrolls, which may lose room; its only child grows. */
  log = (node: HTMLElement) => {
    this.#node = node;
    const grown = new ResizeObserver(() => this.following && this.#down());
    grown.observe(node);
    if (node.firstElementChild) grown.observe(node.firstElementChild);
    let top = 0;
    // Only going up leaves the end, and only going down comes back to it: a list that grows puts
    // its end out of sight, and one that shrinks moves the reader towards it.
    const scrolled = () => {
      const near = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR;
      if (near && node.scrollTop > top) this.following = true;
      else if (!near && node.scrollTop < top) this.following = false;
      top = node.scrollTop;
    };
    // Whoever unfolds something wants to read it where it is.
    const clicked = (event: Event) => {
      if (event.target instanceof Element && event.target.closest("summary")) this.following = false;
    };
    node.addEventListener("scroll", scrolled, { passive: true });
    node.addEventListener("click", clicked);
    return () => {
      grown.disconnect();
      node.removeEventListener("scroll", scrolled);
      node.removeEventListener("click", clicked);
    };
  };

  /** At the beginning, where there is nothing to follow yet. */
  begin(): void {
    this.following = false;
    if (this.#node) this.#node.scrollTop = 0;
  }

  end(): void {
    this.following = true;
    this.#down();
  }

  /** Does something that grows the list at its beginning, and stays where the reader is. */
  async keep(work: () => Promise<void> | undefined): Promise<void> {
    const node = this.#node;
    const below = node ? node.scrollHeight - node.scrollTop : 0;
    this.following = false;
    await work();
    requestAnimationFrame(() => node && (node.scrollTop = node.scrollHeight - below));
  }

  #down() {
    if (this.#node) this.#node.scrollTop = this.#node.scrollHeight;
  }
}
