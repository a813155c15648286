// `blockhouse chat`: one question, one answer, in this process.
import { Command, Option } from 'clipanion';
import * as t from 'typanion';
import type { ChatDone, ChatRequest, ChatResponse, ChatStreamEvent, Core, ErrorBody } from '../../core/index.ts';
import { BaseCommand } from '../command.ts';
import { CliError, type ExitKind } from '../exit-codes.ts';
import { oneLine, TextPrinter, toJson, write } from '../output.ts';

export class ChatCommand extends BaseCommand {
  static override readonly paths = [['chat']];
  static override readonly usage = Command.Usage({
    category: 'Providers',
    description: 'Send one message to a model and print the answer while it comes',
    details: `
      The message is the argument, or standard input when it is \`-\` or when nothing is given and input is piped. Needs no server.
      With \`--json\`, each event of the stream is one JSON line; with \`--json --no-stream\`, the answer is one document.
    `,
    examples: [
      ['Ask a model', '$0 chat --adapter <id> "Why is the sky blue?"'],
      ['Ask about a file', '$0 chat --adapter <id> --system "Summarise." < notes.txt'],
    ],
  });

  adapter = Option.String('--adapter', { description: 'Adapter id, see `blockhouse adapters`' });
  model = Option.String('--model', { description: "Model id; else the adapter's default" });
  system = Option.String('--system', { description: 'Instructions for the model' });
  maxTokens = Option.String('--max-tokens', { validator: t.isNumber(), description: 'Longest answer, in tokens; else 4096' });
  temperature = Option.String('--temperature', { validator: t.isNumber(), description: 'From 0 to 1' });
  whole = Option.Boolean('--no-stream', false, { description: 'Print the answer when it is complete' });
  message = Option.String({ required: false, name: 'message' });

  protected override async run(): Promise<ExitKind> {
    const { adapter } = this;
    if (adapter === undefined) throw new CliError('usage', `--adapter is required; \`${this.command} adapters\` lists them.`);
    return this.interruptible(async (signal) => {
      const message = await this.#readMessage(signal);
      return this.withCore(async (core) => {
        const request = this.#request(core, adapter, message);
        if (this.whole) await this.#printWhole(core, request, signal);
        else await this.#printStream(core, request, signal);
        return 'ok';
      });
    });
  }

  protected override jsonFailure(body: Partial<ErrorBody>): unknown {
    return this.whole ? body : { type: 'error', ...body };
  }

  async #readMessage(signal: AbortSignal): Promise<string> {
    const isPiped = !process.stdin.isTTY;
    if (this.message === undefined && !isPiped) throw new CliError('usage', 'give a message, or pipe one in.');
    if (this.message !== undefined && this.message !== '-') return this.message;
    const { readAll } = await import('../input.ts');
    const text = await readAll(this.context.stdin, signal);
    if (text.trim() === '') throw new CliError('usage', 'the message on standard input is empty.');
    return text;
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
      // What follows, a remark or an error, starts on a line of its own.
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

  /** What the text alone does not tell. */
  async #remark({ stopReason, warnings }: ChatDone | ChatResponse): Promise<void> {
    for (const { field, message } of warnings ?? []) await this.say(`note: ${oneLine(`${field}: ${message}`)}`);
    if (stopReason !== 'end_turn') await this.say(`note: the answer ended with ${stopReason}.`);
  }
}
