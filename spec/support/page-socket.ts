// What stands between the WebSocket of a page and its server: lets a connection die without a word, and adds frames that a server of a later
// version might send.
import type { Page, WebSocketRoute } from 'playwright-core';

/** The connections of one page, the newest last. */
export class PageSocket {
  readonly #routes: WebSocketRoute[] = [];
  /** Frames that have come from the server. */
  heard = 0;
  readonly #dead = new Set<WebSocketRoute>();

  /** Takes its place; for `prepare` of a page. `change` is for the frames of a server of a later version. */
  async between(page: Page, change: (frame: string) => string = (frame) => frame): Promise<void> {
    await page.routeWebSocket(/\/api\/ws/, (route) => {
      const server = route.connectToServer();
      this.#routes.push(route);
      route.onMessage((text) => {
        if (!this.#dead.has(route)) server.send(text);
      });
      server.onMessage((text) => {
        this.heard += 1;
        if (!this.#dead.has(route)) route.send(typeof text === 'string' ? change(text) : text);
      });
    });
  }

  /** How many connections the page has made. */
  get count(): number {
    return this.#routes.length;
  }

  /** From now on the present connections carry nothing, and end without a FIN. New ones work. */
  dieSilently(): void {
    for (const route of this.#routes) this.#dead.add(route);
  }

  /** Ends the present connection; a new one works. */
  async end(): Promise<void> {
    await this.#routes.at(-1)?.close();
  }

  /** A frame as from the server. */
  send(frame: object): void {
    this.#routes.at(-1)?.send(JSON.stringify(frame));
  }
}
