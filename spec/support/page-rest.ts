// When a page rests: all that it has asked for has come, and the browser has drawn it.
//
// asked-in-frames: a page reads after the server has answered its subscription over the WebSocket, so a subscription without an answer counts as a request.
// chains-end: what comes may make the page ask for more, which it does before the browser has drawn twice.
import type { Page, Request, WebSocket } from 'playwright-core';
import { until } from './until.ts';

/** What the frames of both sides have. */
interface Frame {
  readonly type: string;
  readonly block?: string;
  readonly fleet?: boolean;
}

const FLEET = '';
/** Of a WebSocket over which nothing has been sent yet. */
const OPENING = ' ';

/** Follows what a page asks for. To be made before the page is loaded. */
export class PageRest {
  readonly #page: Page;
  readonly #requests = new Set<Request>();
  /** asked-in-frames: what the newest WebSocket waits for, by the names of blocks. */
  readonly #answers = new Set<string>();
  #begun = 0;
  #socket: WebSocket | undefined;

  constructor(page: Page) {
    this.#page = page;
    page.on('request', (request) => {
      this.#begun += 1;
      this.#requests.add(request);
    });
    page.on('requestfinished', (request) => this.#requests.delete(request));
    page.on('requestfailed', (request) => this.#requests.delete(request));
    page.on('websocket', (socket) => this.#follow(socket));
  }

  /** Nothing is waited for that an earlier document has asked for. */
  forget(): void {
    this.#requests.clear();
    this.#answers.clear();
    this.#socket = undefined;
  }

  /** Resolves when the page rests. */
  async reached(): Promise<void> {
    for (let begun = Number.NaN; begun !== this.#begun || this.#waits(); ) {
      await until('the page has what it has asked for', () => !this.#waits());
      begun = this.#begun;
      await this.#page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))'); // chains-end
    }
  }

  #waits(): boolean {
    return this.#requests.size + this.#answers.size > 0;
  }

  #follow(socket: WebSocket): void {
    this.#socket = socket;
    this.#answers.clear();
    this.#answers.add(OPENING);
    this.#begun += 1;
    const ofNewest = (take: (frame: Frame) => void) => (sent: { readonly payload: string | Buffer }) => {
      if (this.#socket === socket) take(JSON.parse(String(sent.payload)) as Frame);
    };
    socket.on(
      'framesent',
      ofNewest(({ type, block, fleet }) => {
        this.#answers.delete(OPENING);
        const topic = fleet === true ? FLEET : block;
        if (type === 'unsubscribe' && topic !== undefined) this.#answers.delete(topic);
        if (type !== 'subscribe' || topic === undefined) return;
        this.#begun += 1;
        this.#answers.add(topic);
      }),
    );
    socket.on(
      'framereceived',
      ofNewest(({ type, block }) => {
        const topic = type === 'fleet' ? FLEET : block;
        if (topic !== undefined) this.#answers.delete(topic);
      }),
    );
    socket.on('close', () => {
      if (this.#socket === socket) this.#answers.clear();
    });
  }
}
