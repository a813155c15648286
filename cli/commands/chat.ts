// `blockhouse chat`: one question, one answer, in this process; without an adapter, a talk with a block.
import { Command, Option } from 'clipanion';
import * as t from 'typanion';
import type { ChatDone, ChatRequest, ChatResponse, ChatStreamEvent, Core, ErrorBody } from '../../core/index.ts';
import { CliError, type ExitKind } from '../exit-codes.ts';
import { isTerminal, oneLine, TextPrinter, toJson, write } from '../output.ts';
import { TalkCommand } from './attach.ts';

/** Looser than the rule for names. A text that does not match is meant as a message. */
const BLOCK_NAME = /^[\w.-]{1,64}$/;

/** Prints the answer; with `--json`, the events of the stream or the answer as JSON. */
export class ChatCommand extends TalkCommand {
  static override readonly paths = [['chat']];
  static override readonly usage = Command.Usage({
    category: 'Providers',
    description: 'Ask a model directly, without a block or a server',
    details: `
      Prints the answer while it comes. The message is the argument, or standard input when it is \`-\` or when nothing is given and
      input is piped. Needs no server.

      Without \`--adapter\`, the argument is the name of a block to talk with, as in \`blockhouse attach <name>\`.

      With \`--json\`, each event of the stream is one JSON line; with \`--json --no-stream\`, the answer is one document.
    `,
    examples: [
      ['Ask a model', '$0 chat --adapter <id> "Why is the sky blue?"'],
      ['Ask about a file', '$0 chat --adapter <id> --system "Summarise." < notes.txt'],
      ['Talk with a block', '$0 chat my-block'],
    ],
  });

  adapter = Option.String('-a,--adapter', { description: 'Adapter id, see `blockhouse adapters`' });
  model = Option.String('-m,--model', { description: "Model id; default: the adapter's own" });
  system = Option.String('-s,--system', { description: 'Instructions for the model' });
  maxTokens = Option.String('--max-tokens', { validator: t.isNumber(), description: 'Longest answer, in tokens; default: 4096' });
  temperature = Option.String('--temperature', { validator: t.isNumber(), description: 'From 0 to 1' });
  whole = Option.Boolean('--no-stream', false, { description: 'Print the answer when it is complete' });
  message = Option.String({ required: false, name: 'message' });

  protected override async run(): Promise<ExitKind> {
    const { adapter } = this;
    if (adapter === undefined) return this.#talkWithBlock();
    return this.interruptible(async (signal) => {
      const { readMessage } = await import('../input.ts');
      const message = await readMessage(this.message, isTerminal(this.context.stdin), this.context.stdin, signal);
      return this.withCore(async (core) => {
        const request = this.#request(core, adapter, message);
        if (this.whole) await this.#printWhole(core, request, signal);
        else await this.#printStream(core, request, signal);
        return 'ok';
      });
    });
  }

  #talkWithBlock(): Promise<ExitKind> {
    if (this.message !== undefined && BLOCK_NAME.test(this.message)) return this.talk(this.message);
    const first = this.message === undefined ? 'Name a block to talk with, or an adapter' : 'A message needs --adapter';
    throw new CliError('usage', `${first}; \`${this.command} ls\` lists the blocks, \`${this.command} adapters\` the adapters.`);
  }

  protected override jsonFailure(body: Partial<ErrorBody>): unknown {
    return this.whole ? body : { type: 'error', ...body };
  }

  #request(core: Core, adapter: string, message: string): ChatRequest {
    const { maxTokens, temperature } = this;
    return {
      adapter,
      model: this.model ?? core.adapter(adapter).defaultModel,
      messages: [...(this.system === undefined ? [] : [{ role: 'system' as const, content: this.system }]), { role: 'user', content: message }],
      config: { ...(maxTokens !== undefined && { maxTokens }), ...(temperature !== undefined && { temperature }) },
    };
  }

  async #printStream(core: Core, request: ChatRequest, signal: AbortSignal): Promise<void> {
    const printer = new TextPrinter(this.stdout);
    try {
      for await (const event of core.stream(request, { signal })) await this.#show(event, printer);
    } finally {
      // A remark or an error that follows must start on its own line.
      await printer.end();
    }
  }

  async #show(event: ChatStreamEvent, printer: TextPrinter): Promise<void> {
    if (this.json) await write(this.stdout, `${toJson(event)}\n`);
    else if (event.type === 'content') await printer.print(event.text);
    else if (event.type === 'done') {
      await printer.end();
      await this.#remark(event);
    }
  }

  async #printWhole(core: Core, request: ChatRequest, signal: AbortSignal): Promise<void> {
    const answer = await core.chat(request, { signal });
    if (this.json) {
      await write(this.stdout, `${toJson(answer)}\n`);
      return;
    }
    const printer = new TextPrinter(this.stdout);
    await printer.print(answer.message.content);
    await printer.end();
    await this.#remark(answer);
  }

  /** Says what the text alone does not show: warnings and an unusual stop reason. */
  async #remark({ stopReason, warnings }: ChatDone | ChatResponse): Promise<void> {
    for (const { field, message } of warnings ?? []) await this.say(`note: ${oneLine(`${field}: ${message}`)}`);
    if (stopReason !== 'end_turn') await this.say(`note: the answer ended with ${stopReason}.`);
  }
}
