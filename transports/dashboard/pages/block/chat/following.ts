// Keeps the end of the conversation in view, for as long as the reader is there.
//
// reader-decides: only the reader's own scrolling ends the following, and reaching the end begins it again.
// beginning-in-view: an answer taller than the view stops at its beginning, so that it can be read from there.
import { type Signal, signal } from '@preact/signals';

/** Nearer than this is the end. */
const END_PX = 8;

/** Follows one scroller. `watch` begins; the function that it returns ends it. */
export class Following {
  /** True while the end stays in view. */
  readonly isOn: Signal<boolean> = signal(true);
  #scroller: HTMLElement | undefined;
  #lastTop = 0;
  #height = 0;
  #byUs = false;

  watch(scroller: HTMLElement, content: HTMLElement): () => void {
    this.#scroller = scroller;
    const onScroll = (): void => this.#onScroll();
    const watcher = new ResizeObserver(() => this.#keep());
    scroller.addEventListener('scroll', onScroll, { passive: true });
    watcher.observe(content);
    watcher.observe(scroller);
    this.toEnd();
    return () => {
      scroller.removeEventListener('scroll', onScroll);
      watcher.disconnect();
      this.#scroller = undefined;
    };
  }

  /** Shows the end, and follows it. */
  toEnd(): void {
    this.isOn.value = true;
    this.#to(this.#scroller?.scrollHeight ?? 0);
  }

  #onScroll(): void {
    const scroller = this.#scroller;
    if (scroller === undefined) return;
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < END_PX;
    if (isAtEnd) this.isOn.value = true;
    else if (!this.#byUs && scrollTop < this.#lastTop - 1 && scrollHeight >= this.#height) this.isOn.value = false; // reader-decides
    this.#lastTop = scrollTop;
    this.#height = scrollHeight;
    this.#byUs = false;
  }

  #keep(): void {
    const scroller = this.#scroller;
    if (scroller === undefined || !this.isOn.peek()) return;
    const writing = scroller.querySelector<HTMLElement>('[data-writing]');
    const end = scroller.scrollHeight - scroller.clientHeight;
    if (writing !== null && writing.offsetTop - 16 < end) {
      this.#to(Math.max(scroller.scrollTop, writing.offsetTop - 16)); // beginning-in-view
      this.isOn.value = false;
    } else this.#to(end);
  }

  #to(top: number): void {
    const scroller = this.#scroller;
    if (scroller === undefined || Math.abs(scroller.scrollTop - top) < 1) return;
    this.#byUs = true;
    scroller.scrollTop = top;
  }
}
