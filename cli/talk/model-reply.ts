// Prints the answer of a model to one request of this process.
import type { Writable } from 'node:stream';
import type { ChatDone, ChatRequest, ChatResponse, Core, Usage } from '../../core/index.ts';
import { oneLine } from '../terminal/output.ts';
import { Spinner } from '../terminal/spinner.ts';
import { TextPrinter } from '../terminal/text-printer.ts';
import { speedText } from '../views/wait-text.ts';

/** Where an answer shows. */
export interface ReplyView {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Writes a remark for the person. */
  readonly say: (text: string) => Promise<void>;
  /** Whether a person sees how long the wait is. */
  readonly isWatched: boolean;
  /** Whether that person also sees how fast the reply was. */
  readonly isVerbose: boolean;
}

/** One answer. */
export class ModelReply {
  /** The text so far, also after a failure. */
  text = '';
  readonly #view: ReplyView;
  readonly #printer: TextPrinter;
  readonly #spinner: Spinner;
  readonly #began = performance.now();
  #firstTextAt: number | undefined;

  constructor(view: ReplyView) {
    this.#view = view;
    this.#printer = new TextPrinter(view.stdout);
    this.#spinner = new Spinner(view.stderr, view.isWatched);
  }

  /** Prints the answer while it comes. Rejects as `core.stream` does. */
  stream(core: Core, request: ChatRequest, signal: AbortSignal): Promise<ChatDone | undefined> {
    return this.#waiting(async () => {
      let done: ChatDone | undefined;
      for await (const event of core.stream(request, { signal })) {
        if (event.type === 'content') await this.#print(event.text);
        else if (event.type === 'done') done = event;
      }
      if (done !== undefined) await this.#remark(done);
      return done;
    });
  }

  /** Prints the answer when it is complete. Rejects as `core.chat` does. */
  whole(core: Core, request: ChatRequest, signal: AbortSignal): Promise<ChatResponse> {
    return this.#waiting(async () => {
      const answer = await core.chat(request, { signal });
      await this.#print(answer.message.content);
      await this.#remark(answer);
      return answer;
    });
  }

  async #waiting<T>(work: () => Promise<T>): Promise<T> {
    this.#spinner.wait(() => 'waiting for the model');
    try {
      return await work();
    } finally {
      this.#spinner.stop();
      // A remark or an error that follows must start on its own line.
      await this.#printer.end();
    }
  }

  async #print(text: string): Promise<void> {
    this.#spinner.stop();
    this.#firstTextAt ??= performance.now();
    this.text += text;
    await this.#printer.print(text);
  }

  /** Says what the text alone does not show: warnings, an unusual stop reason, and with -v the speed. */
  async #remark({ stopReason, warnings, usage }: ChatDone | ChatResponse): Promise<void> {
    this.#spinner.stop();
    await this.#printer.end();
    for (const { field, message } of warnings ?? []) await this.#view.say(`note: ${oneLine(`${field}: ${message}`)}`);
    if (stopReason !== 'end_turn') await this.#view.say(`note: the answer ended with ${stopReason}.`);
    const speed = this.#view.isVerbose ? this.#speed(usage) : undefined;
    if (speed !== undefined) await this.#view.say(speed);
  }

  #speed(usage: Usage): string | undefined {
    return speedText({ usage, latencyMs: performance.now() - this.#began, ttftMs: (this.#firstTextAt ?? this.#began) - this.#began });
  }
}
