// The one module that scrolls the chat.
//
// follows: at the end, the end stays in view; when the reader scrolls up, nothing moves any more until the end is reached again.
// keeps-the-line: whatever comes or goes above, the line at the top of the view stays where it is.
// stops-at-the-beginning: an answer that is taller than the view is not scrolled past its beginning, unless the reader asks for the newest.
import { type Signal, signal } from '@preact/signals';

const AT_END_PX = 3;
const MARGIN_PX = 12;

/** Scrolls one chat. */
export class Scroll {
  /** True while there is something below that the reader does not see by itself. */
  readonly isBehind: Signal<boolean> = signal(false);
  /** True while the end is followed. */
  isFollowing = true;
  #box: HTMLElement | undefined;
  #top = 0;
  #height = 0;
  #isPassing = false;
  #anchor: { readonly element: Element; readonly top: number } | undefined;

  /** Scrolls `box`, whose first child has the entries, until the returned function is called. */
  attach(box: HTMLElement, onScroll: () => void): () => void {
    this.#box = box;
    const watcher = new ResizeObserver(() => this.settle());
    watcher.observe(box);
    if (box.firstElementChild !== null) watcher.observe(box.firstElementChild);
    const scrolled = (): void => {
      this.#scrolled();
      onScroll();
    };
    box.addEventListener('scroll', scrolled, { passive: true });
    this.settle();
    return () => {
      watcher.disconnect();
      box.removeEventListener('scroll', scrolled);
      this.#box = undefined;
    };
  }

  /** To be called after everything that changes the chat, before it is painted. */
  settle(): void {
    const box = this.#box;
    if (box === undefined) return;
    if (this.isFollowing) this.#to(this.#wanted(box));
    else if (this.#anchor?.element.isConnected === true) {
      const moved = this.#anchor.element.getBoundingClientRect().top - box.getBoundingClientRect().top - this.#anchor.top;
      if (Math.abs(moved) >= 1) this.#to(box.scrollTop + moved); // keeps-the-line
    }
    this.#note(box);
  }

  /** Shows the end, and follows it. */
  toEnd(): void {
    this.isFollowing = true;
    this.#isPassing = true;
    this.settle();
  }

  /** Follows as at first: the next answer is stopped at its beginning. */
  begin(): void {
    this.#isPassing = false;
  }

  /** Shows an entry. */
  show(element: Element): void {
    const box = this.#box;
    if (box === undefined) return;
    this.isFollowing = false;
    this.#to(box.scrollTop + element.getBoundingClientRect().top - box.getBoundingClientRect().top - MARGIN_PX);
    this.#note(box);
  }

  #wanted(box: HTMLElement): number {
    const end = box.scrollHeight - box.clientHeight;
    const live = this.#isPassing ? null : box.querySelector('[data-live]');
    if (live === null) return end;
    const start = box.scrollTop + live.getBoundingClientRect().top - box.getBoundingClientRect().top - MARGIN_PX;
    return Math.min(end, Math.max(start, this.#top > end ? 0 : this.#top)); // stops-at-the-beginning
  }

  #to(top: number): void {
    const box = this.#box;
    if (box === undefined) return;
    if (Math.abs(box.scrollTop - top) >= 1) box.scrollTop = top;
    this.#top = box.scrollTop;
  }

  #scrolled(): void {
    const box = this.#box;
    if (box === undefined) return;
    const isShrunk = box.scrollHeight < this.#height;
    if (distance(box) <= AT_END_PX) {
      if (!this.isFollowing) this.#isPassing = true;
      this.isFollowing = true;
    } else if (box.scrollTop < this.#top - 1 && !isShrunk) this.isFollowing = false;
    this.#top = box.scrollTop;
    this.#note(box);
  }

  #note(box: HTMLElement): void {
    this.#height = box.scrollHeight;
    this.isBehind.value = distance(box) > 40;
    const edge = box.getBoundingClientRect().top;
    const first = [...box.querySelectorAll('[data-line]')].find((line) => line.getBoundingClientRect().bottom > edge);
    this.#anchor = first === undefined ? undefined : { element: first, top: first.getBoundingClientRect().top - edge };
  }
}

function distance({ scrollHeight, clientHeight, scrollTop }: HTMLElement): number {
  return scrollHeight - clientHeight - scrollTop;
}
