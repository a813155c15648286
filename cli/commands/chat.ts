// `blockhouse chat`: a conversation or one message, with a block by its server, or with a model in this process.
import { Command, Option } from 'clipanion';
import * as t from 'typanion';
import { timeLimit } from '../../core/base/abort.ts';
import type { ChatConfig, ChatRequest, ContentPart, Core, ErrorBody } from '../../core/index.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { isTerminal, oneLine, toJson, write } from '../terminal/output.ts';
import { isWatched } from '../terminal/spinner.ts';
import { TalkCommand } from './attach.ts';

const ONE_ARGUMENT = 'A message to a model is one argument; put it in quotes.';

/** What the options add to a message and ask of the answer. */
interface Asked {
  readonly attachments: readonly ContentPart[];
  readonly config: ChatConfig;
}

/** Prints the answer; with `--json`, the events of the stream or the answer as JSON. */
export class ChatCommand extends TalkCommand {
  static override readonly paths = [['chat']];
  static override readonly usage = Command.Usage({
    category: 'Providers',
    description: 'Talk with a model or a block, or ask one thing',
    details: `
      Without a message, it opens a conversation: \`/help\` lists the commands, Ctrl-C cancels an answer, \`/bye\` leaves. A conversation
      with a model needs no server and is gone when the command ends. One with a block stays in the block's history, as with
      \`blockhouse attach\`.

      One word is a block if a block has that name and neither \`--provider\` nor \`--model\` is given; otherwise it is a message. Without
      \`--provider\`, the message goes to the only provider that is ready, or to the one that lists the model.

      Piped input follows the message after a blank line, or is the message if there is none. If the pipe stays empty for 10 seconds
      (1 second if a program other than a shell opened it), the message is sent without it; with \`-\` as the message, the command waits
      as long as it takes. In a loop such as \`while read\`, add \`< /dev/null\`, or the command reads the input of the loop.

      \`--image\` and \`--file\` go to a model with the message, before its text; in a conversation, with its first message that gets an
      answer. An image is a PNG, JPEG, GIF or WebP, or a URL that the provider fetches. A file is text or a PDF. Each has at most 20 MiB.
      What the model can't read is an error. With \`--schema\`, each answer is JSON that follows the schema.

      With \`--json\`, each event of the stream is one JSON line; with \`--json --no-stream\`, the answer is one document.
    `,
    examples: [
      ['Talk with a model', '$0 chat --provider <id>'],
      ['Ask a model', '$0 chat --provider <id> "Why is the sky blue?"'],
      ['Ask about a log', 'cat error.log | $0 chat --provider <id> "What went wrong?"'],
      ['Ask about an image', '$0 chat --provider <id> --image photo.png "What is this?"'],
      ['Get JSON', '$0 chat --provider <id> --schema answer.schema.json "Three rivers?"'],
      ['Talk with a block', '$0 chat my-block'],
      ['Ask a block', '$0 chat my-block "Any news?"'],
    ],
  });

  provider = Option.String('-a,--adapter,--provider', { description: 'Provider id, see `blockhouse providers`' });
  model = Option.String('-m,--model', { description: "Model id, provider/model or an alias; default: the provider's own" });
  system = Option.String('-s,--system', { description: 'Instructions for the model' });
  maxTokens = Option.String('--max-tokens', {
    validator: t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(1)]),
    description: 'Longest answer, in tokens; default: 4096',
  });
  temperature = Option.String('--temperature', { validator: t.cascade(t.isNumber(), [t.isInInclusiveRange(0, 1)]), description: 'From 0 to 1' });
  image = Option.Array('--image', { description: 'An image for the model, or its URL; may be given several times' });
  file = Option.Array('--file', { description: 'A text file or PDF for the model; may be given several times' });
  schema = Option.String('--schema', { description: 'A file with a JSON Schema; the answer is JSON that follows it' });
  effort = Option.String('--effort', { description: 'How much the model thinks: none, minimal, low, medium, high, xhigh or max' });
  timeout = Option.String('--timeout', { description: 'The longest wait for one answer; default: 600 for a block, none for a model' });
  whole = Option.Boolean('--no-stream', false, { description: 'Print the answer when it is complete' });
  first = Option.String({ required: false, name: 'block' });
  second = Option.String({ required: false, name: 'message' });

  protected override async run(): Promise<ExitKind> {
    const { isBlock, mayBeBlock } = await import('../client/block-place.ts');
    const { workspace } = await this.config();
    const { first, second } = this;
    if (second !== undefined && this.#namesModel) throw new CliError('usage', `${ONE_ARGUMENT} --provider and --model do not go with a block.`);
    if (first !== undefined && !this.#namesModel && (await isBlock(workspace, first))) return this.#blockTurn(first, second);
    if (second !== undefined) throw new CliError('usage', `There is no block ${oneLine(first ?? '')}. ${ONE_ARGUMENT}`);
    if (first === undefined && this.isConversation) return this.#conversation();
    if (first !== undefined && !this.#namesModel && mayBeBlock(first)) await this.#notABlock(workspace, first);
    return this.interruptible(async (signal) => {
      const asked = { attachments: await this.#attachments(), config: await this.#config() };
      const message = await this.#message(first, signal);
      return this.#within(signal, (end) => this.withCore(async (core) => this.#answer(core, message, asked, end)));
    });
  }

  /** Runs work that ends at `--timeout`, too. */
  async #within(signal: AbortSignal, work: (end: AbortSignal) => Promise<ExitKind>): Promise<ExitKind> {
    if (this.timeout === undefined) return work(signal);
    const { tooLate, waitMs } = await import('../talk/exchange.ts');
    const ms = waitMs(this.timeout);
    const limit = timeLimit(ms);
    try {
      return await work(AbortSignal.any([signal, limit]));
    } catch (error) {
      throw limit.aborted && !signal.aborted ? tooLate(ms, '', error) : error;
    }
  }

  #refuseTimeout(): void {
    if (this.timeout !== undefined) throw new CliError('usage', '--timeout needs a message; in a conversation, Ctrl-C ends the wait.');
  }

  /** A misspelt name must not go to a model that may cost money. */
  async #notABlock(workspace: string, word: string): Promise<void> {
    const { nearestBlock } = await import('../client/block-place.ts');
    const meant = await nearestBlock(workspace, word);
    if (meant !== undefined) throw new CliError('usage', `There is no block ${word}; did you mean ${meant}? To ask a model, add --provider or --model.`);
    await this.say(`note: there is no block ${word}, so this goes to a model.`);
  }

  get #namesModel(): boolean {
    return this.provider !== undefined || this.model !== undefined;
  }

  protected override jsonFailure(body: Partial<ErrorBody>): unknown {
    return this.whole ? body : { type: 'error', ...body };
  }

  async #message(argument: string | undefined, signal: AbortSignal): Promise<string> {
    const { readMessage } = await import('../input/input.ts');
    const { stdin } = this.context;
    return readMessage(argument, { input: stdin, isTerminal: isTerminal(stdin), signal, say: (text) => this.say(text) });
  }

  /** A conversation with a block, or one message where there is one or none can be typed. */
  #blockTurn(block: string, argument?: string): Promise<ExitKind> {
    this.#refuseModelOptions(block);
    if (argument === undefined && this.isConversation) {
      this.#refuseJson();
      this.#refuseTimeout();
      return this.talk(block);
    }
    return this.withServer(async (api, signal) => {
      const { exchange, waitMs } = await import('../talk/exchange.ts');
      const timeoutMs = waitMs(this.timeout);
      const message = await this.#message(argument, signal);
      const { stdout, stderr, json, verbose: isVerbose, whole } = this;
      const view = { stdout, stderr, json, isStreamed: !whole, isVerbose, isWatched: !json && isWatched(stderr, this.context.env) };
      const say = (text: string): Promise<void> => this.say(text);
      const sender = { api: api.unabortable, block, say, hint: (...words: string[]) => this.hint(...words) };
      return exchange(message, { ...sender, ...view, signal, timeoutMs, waitsAnyway: this.timeout !== undefined });
    });
  }

  #refuseModelOptions(block: string): void {
    const { system, maxTokens, temperature, image, file, schema, effort } = this;
    const given = (options: Record<string, unknown>): string | undefined => Object.entries(options).find(([, value]) => value !== undefined)?.[0];
    const attached = given({ '--image': image, '--file': file });
    if (attached !== undefined) throw new CliError('usage', `${attached} is for a model; a message to a block is text only.`);
    const answer = given({ '--schema': schema, '--effort': effort });
    if (answer !== undefined) throw new CliError('usage', `${answer} is for a model; a block has no such setting.`);
    const option = given({ '--system': system, '--max-tokens': maxTokens, '--temperature': temperature });
    if (option === undefined) return;
    throw new CliError('usage', `${option} is for a model; the block ${block} has its own, which \`${this.hint('config', 'edit', block)}\` changes.`);
  }

  #refuseJson(): void {
    if (this.json) throw new CliError('usage', '--json needs a message, because a conversation has no JSON output.');
  }

  #conversation(): Promise<ExitKind> {
    this.#refuseJson();
    this.#refuseTimeout();
    return this.interruptible(async (signal) => {
      const attachments = await this.#attachments();
      const config = await this.#config();
      return this.withCore(async (core) => {
        const { talkWithModel } = await import('../talk/model-talk.ts');
        const request = { ...(await this.#target(core, signal)), config };
        return this.withTyping((typing) => talkWithModel({ ...typing, core, request, system: this.system, attachments, signal }));
      });
    });
  }

  async #attachments(): Promise<ContentPart[]> {
    const { image: images = [], file: files = [] } = this;
    if (images.length + files.length === 0) return [];
    const { readAttachments } = await import('../talk/attachments.ts');
    return readAttachments({ images, files });
  }

  async #config(): Promise<ChatConfig> {
    const { answerConfig } = await import('../talk/answer-options.ts');
    const { maxTokens, temperature, schema, effort } = this;
    return answerConfig({ maxTokens, temperature, schema, effort });
  }

  async #target(core: Core, signal: AbortSignal): Promise<Pick<ChatRequest, 'adapter' | 'model'>> {
    const { chooseModel } = await import('../talk/model-choice.ts');
    const { provider: adapter, model } = this;
    return chooseModel(core, { adapter, model }, { signal, command: this.command });
  }

  async #answer(core: Core, message: string, { attachments, config }: Asked, signal: AbortSignal): Promise<ExitKind> {
    const { ModelReply } = await import('../talk/model-reply.ts');
    const { withAttachments } = await import('../talk/attachments.ts');
    const instructions = this.system === undefined ? [] : [{ role: 'system' as const, content: this.system }];
    const messages = [...instructions, { role: 'user' as const, content: withAttachments(message, attachments) }];
    const request: ChatRequest = { ...(await this.#target(core, signal)), config, messages };
    if (this.json) {
      if (this.whole) await this.#print(await core.chat(request, { signal }));
      else for await (const event of core.stream(request, { signal })) await this.#print(event);
      return 'ok';
    }
    const { stdout, stderr } = this;
    const watched = isWatched(stderr, this.context.env);
    const reply = new ModelReply({ stdout, stderr, say: (text) => this.say(text), isWatched: watched, isVerbose: this.verbose && watched });
    await (this.whole ? reply.whole(core, request, signal) : reply.stream(core, request, signal));
    return 'ok';
  }

  async #print(document: unknown): Promise<void> {
    await write(this.stdout, `${toJson(document)}\n`);
  }
}
