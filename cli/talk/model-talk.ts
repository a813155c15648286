// A person talks with a model, without a block or a server. The conversation is in memory and ends with the command.
//
// turns-alternate: a message without any answer is forgotten, because providers refuse two messages of the same side in a row.
// attached-once: attachments go with each message until one is answered, and are then in the conversation.
import type { Writable } from 'node:stream';
import { BlockhouseError, type ChatRequest, type ContentPart, type Core, type Message } from '../../core/index.ts';
import { CliError, type ExitKind, kindOfCode } from '../terminal/exit-codes.ts';
import { oneLine, writeLines } from '../terminal/output.ts';
import { withAttachments } from './attachments.ts';
import { ModelReply } from './model-reply.ts';
import { type Partner, TALK_HELP, TALK_HINT, type TalkOptions, talk } from './talk.ts';

/** What a talk needs. */
export interface ModelTalkOptions extends TalkOptions {
  readonly core: Core;
  /** Everything but the conversation. */
  readonly request: Omit<ChatRequest, 'messages'>;
  readonly system: string | undefined;
  /** Go with the first message that is answered. */
  readonly attachments: readonly ContentPart[];
}

/** The text of /help. */
export const HELP = `/clear   forget the conversation so far
${TALK_HELP}`;

/** Talks until the person leaves. Rejects with a CliError when interrupted from outside. */
export async function talkWithModel(options: ModelTalkOptions): Promise<ExitKind> {
  const { request, style, output } = options;
  await writeLines(output as Writable, [`${style.bold(request.adapter)}  ${oneLine(request.model)}`, style.dim(TALK_HINT)]);
  return talk(options, new ModelPartner(options), faultOf);
}

/** A failure of one message. A defect ends the talk. */
function faultOf(error: unknown): CliError | undefined {
  const isExpected = error instanceof BlockhouseError && error.code !== 'INTERNAL_ERROR';
  return isExpected ? new CliError(kindOfCode(error.code), error.message, error) : undefined;
}

class ModelPartner implements Partner {
  readonly name: string;
  readonly help = HELP;
  readonly commands = { '/clear': () => this.#clear() };
  readonly #options: ModelTalkOptions;
  #messages: Message[] = [];
  #attachments: readonly ContentPart[];
  #running: AbortController | undefined;

  constructor(options: ModelTalkOptions) {
    this.#options = options;
    this.#attachments = options.attachments;
    this.name = options.request.adapter;
  }

  async send(text: string): Promise<void> {
    const { core, request, system, stdout, output, isWatched, isVerbose, style } = this.#options;
    const said: Message[] = [...this.#messages, { role: 'user', content: withAttachments(text, this.#attachments) }];
    const instructions: Message[] = system === undefined ? [] : [{ role: 'system', content: system }];
    const say = (remark: string): Promise<void> => writeLines(output as Writable, [style.dim(remark)]);
    const reply = new ModelReply({ stdout, stderr: output as Writable, say, isWatched, isVerbose });
    const running = new AbortController();
    this.#running = running;
    try {
      const done = await reply.stream(core, { ...request, messages: [...instructions, ...said] }, running.signal);
      this.#keep(said, reply.text, done?.providerMetadata);
    } catch (error) {
      if (!running.signal.aborted) throw error;
      this.#keep(said, reply.text);
      await say('note: the answer was cancelled.');
    } finally {
      this.#running = undefined;
    }
  }

  interrupt(): boolean {
    const isBusy = this.#running !== undefined;
    this.#running?.abort();
    return isBusy;
  }

  /** turns-alternate. */
  #keep(said: Message[], answer: string, providerMetadata?: Readonly<Record<string, unknown>>): void {
    if (answer === '') return;
    this.#attachments = []; // attached-once
    this.#messages = [...said, { role: 'assistant', content: answer, ...(providerMetadata !== undefined && { providerMetadata }) }];
  }

  async #clear(): Promise<void> {
    this.#messages = [];
    await writeLines(this.#options.output as Writable, ['The conversation was cleared.']);
  }
}
