// A person talks with a block: each message goes to it, and its reply is shown while it is written.
//
// leaving-cancels-nothing: only Ctrl-C during a reply cancels it.
// prompt-returns: while a block waits for a person, the prompt comes back. The message stays, and its reply is shown after /start.
import type { Writable } from 'node:stream';
import type { ReplyStep } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { folded, oneLine, widthOf, writeLines } from '../terminal/output.ts';
import { Spinner } from '../terminal/spinner.ts';
import { memoryText, stateCell, whyText } from '../views/block-text.ts';
import { newestEntries, shortConversation } from '../views/conversation-text.ts';
import { speedText } from '../views/wait-text.ts';
import { CONNECTION_NOTES, Conversation, faultOf } from './conversation.ts';
import { DecideInPlace } from './decide-in-place.ts';
import { Others } from './others.ts';
import { ReplyPrinter } from './reply-printer.ts';
import { type Partner, TALK_HELP, TALK_HINT, type TalkOptions, talk } from './talk.ts';
import { withSpinner } from './wait-display.ts';

/** What a talk needs. */
export interface AttachOptions extends TalkOptions {
  /** Its calls are not aborted by `signal`, because cancelling a reply is a call, too. */
  readonly api: Api;
  readonly block: string;
}

/** The text of /help. */
export const HELP = `/why     why the block is in its state       /start   start its monitor
/memory  what it remembers                   /stop    stop its monitor
/yes     approve the call that waits, once   /no      deny it
/always  approve it, and later calls, too    /show    show all of it
${TALK_HELP}`;

/** How much of the conversation so far is shown at the start. */
const LAST_ENTRIES = 6;
const LAST_LINES = 6;

/** Talks until the person leaves. Resolves with `ok` at a terminal, else with the worst outcome of the messages. Rejects with a CliError. */
export async function attach(options: AttachOptions): Promise<ExitKind> {
  const { api, block, style, terminal, output } = options;
  const { pulse, config } = await api.details(block);
  const conversation = await Conversation.open(api, block);
  let partner: BlockPartner | undefined;
  try {
    const state = stateCell(pulse, style);
    if (terminal) {
      const title = `${style.bold(block)}  ${state.paint(state.text)}  ${oneLine(config.adapter?.model ?? 'no model')}`;
      await writeLines(output as Writable, [...(await lastTurns(options)), title, style.dim(TALK_HINT)]);
    } else await writeLines(output as Writable, [`note: each line of the input is a message; \`blockhouse chat ${block}\` sends all of it as one.`]);
    partner = new BlockPartner(options, conversation);
    if (terminal) await partner.showWaiting();
    return await talk(options, partner, (error) => (error instanceof CliError ? error : undefined));
  } finally {
    partner?.close();
    conversation.close();
  }
}

/** The end of the conversation so far. */
async function lastTurns({ api, block, output, style }: AttachOptions): Promise<string[]> {
  const entries = await newestEntries(api, block, LAST_ENTRIES);
  return shortConversation(block, entries, LAST_LINES, { now: Date.now(), style, width: widthOf(output) });
}

/** States that only a person can end. */
const WAITS_FOR_A_PERSON: ReadonlySet<string> = new Set(['unconfigured', 'stopped', 'paused', 'waiting-approval', 'failed']);

/** Ends the wait for a reply that does not come by itself (prompt-returns). */
class Stuck extends Error {}

class BlockPartner implements Partner {
  readonly name: string;
  readonly help = HELP;
  readonly commands: Partner['commands'];
  readonly #options: AttachOptions;
  readonly #conversation: Conversation;
  readonly #decide: DecideInPlace;
  /** Ids of messages that have no reply yet, oldest first. */
  readonly #unanswered: string[] = [];
  /** Ids of those whose wait ended because a person must do something first, until their next attempt. */
  readonly #stuck = new Set<string>();
  #current: string | undefined;
  /** The state that was last shown during this wait. */
  #toldState: string | undefined;
  /** A message is being sent, and its id is not known yet. */
  #isSending = false;
  /** Ctrl-C was pressed before the id was known. */
  #isUnwanted = false;
  #spinner: Spinner | undefined;
  /** Ends a wait for a server that is away. */
  readonly #abandoned = new AbortController();
  /** Ids of the messages that were sent here. */
  readonly #own = new Set<string>();
  #others: Others | undefined;

  constructor(options: AttachOptions, conversation: Conversation) {
    this.#options = options;
    this.#conversation = conversation;
    this.name = options.block;
    const { api, block, style } = options;
    this.#decide = new DecideInPlace({ api, block, style, output: options.output as Writable, onDecided: () => this.#answers() });
    this.commands = {
      ...this.#decide.commands,
      '/why': () => this.#why(),
      '/memory': () => this.#memory(),
      '/start': () => this.#monitor('start'),
      '/stop': () => this.#monitor('stop'),
    };
  }

  listen(show: (lines: readonly string[]) => boolean): void {
    const { api, block, style, output } = this.#options;
    this.#others = new Others({
      api,
      block,
      view: () => ({ now: Date.now(), style, width: widthOf(output) }),
      show,
      isOwn: (id) => this.#own.has(id),
      isBusy: () => this.#current !== undefined || this.#isSending,
    });
    this.#conversation.onChanged = () => this.#others?.changed();
    this.#others.changed();
  }

  close(): void {
    this.#others?.close();
  }

  /** Shows a call that waits since before the talk; the reply to its message is shown once it is decided. */
  async showWaiting(): Promise<void> {
    const waits = await this.#decide.showNext();
    if (waits === undefined) return;
    this.#conversation.expect(waits.messageId);
    this.#own.add(waits.messageId);
    this.#unanswered.push(waits.messageId);
  }

  async send(text: string): Promise<void> {
    const { terminal } = this.#options;
    if (terminal && (await this.#decide.take(text))) return;
    this.#isSending = true;
    this.#isUnwanted = false;
    const receipt = await this.#conversation.send(text, this.#abandoned.signal, { connection: (state) => this.#say(CONNECTION_NOTES[state]) }).finally(() => {
      this.#isSending = false;
    });
    this.#own.add(receipt.id);
    this.#unanswered.push(receipt.id);
    if (this.#isUnwanted) this.#cancel(receipt.id);
    if (receipt.running || !terminal || this.#isUnwanted) await this.#answers();
    else await this.#say('note: the message waits because the monitor is not running; /start starts it.');
  }

  /** Waits for the replies of all messages without one and shows them. */
  async #answers(): Promise<void> {
    for (let id = this.#unanswered.shift(); id !== undefined; id = this.#unanswered.shift()) {
      const printer = new ReplyPrinter(this.#options.stdout, (text) => this.#say(text));
      const spinner = new Spinner(this.#options.output as Writable, this.#options.isWatched);
      this.#spinner = spinner;
      this.#current = id;
      try {
        const outcome = await this.#conversation.outcome(
          id,
          withSpinner(
            {
              step: (step) => (this.#isOld(id, step) ? Promise.resolve() : printer.step(step)),
              stalled: () => this.#tellWhy(),
              waiting: ({ status }) => this.#showCall(status, printer),
              connection: (state) => printer.remark(CONNECTION_NOTES[state]),
            },
            spinner,
            { api: this.#options.api, block: this.#options.block, id, ahead: 0, isRunning: true, isStreamed: true },
          ),
          this.#abandoned.signal,
        );
        spinner.stop();
        await printer.finish(outcome);
        const speed = this.#options.isVerbose && outcome.answer !== undefined ? speedText(outcome.answer) : undefined;
        if (speed !== undefined) await this.#say(this.#options.style.dim(speed));
        const fault = faultOf(outcome);
        // The printer has shown what there is of an interrupted answer, and has said that it was interrupted.
        if (fault !== undefined && outcome.answer === undefined) throw fault;
      } catch (error) {
        if (!(error instanceof Stuck)) throw error;
        this.#unanswered.unshift(id);
        this.#stuck.add(id);
        return;
      } finally {
        this.#current = undefined;
        this.#toldState = undefined;
        spinner.stop();
        await printer.end();
      }
    }
  }

  /** True for the end of an attempt that has stopped for a person: it may be read only after that person has decided, when it is no news. */
  #isOld(id: string, step: ReplyStep): boolean {
    if (step.event === 'start') this.#stuck.delete(id);
    return step.event === 'error' && step.code === 'CANCELLED' && this.#stuck.delete(id);
  }

  async #say(text: string): Promise<void> {
    this.#spinner?.clear();
    const { output } = this.#options;
    await writeLines(output as Writable, folded(text, widthOf(output)));
  }

  /** A call that waits is shown behind the text that came before it, and the prompt comes back. */
  async #showCall(status: string, printer: ReplyPrinter): Promise<void> {
    if (status !== 'waiting-approval' || !this.#options.terminal) return;
    this.#spinner?.stop();
    await printer.end();
    if ((await this.#decide.showNext()) !== undefined) throw new Stuck();
  }

  async #tellWhy(): Promise<void> {
    const { state, why, next } = await this.#options.api.explain(this.#options.block);
    if (state !== this.#toldState && state !== 'working' && state !== 'idle') await this.#say(`note: ${oneLine(`${why} ${next}`)}`);
    this.#toldState = state;
    if (!this.#options.terminal || !WAITS_FOR_A_PERSON.has(state)) return;
    if (state !== 'waiting-approval' || !(await this.#decide.show())) await this.#say('note: the message waits; /start tries again, /why explains.');
    throw new Stuck();
  }

  interrupt(): boolean {
    const isBusy = this.#current !== undefined || this.#isSending;
    if (this.#conversation.isAway) this.#abandoned.abort();
    else if (this.#isSending) this.#isUnwanted = true;
    else if (this.#current !== undefined) this.#cancel(this.#current);
    return isBusy;
  }

  #cancel(id: string): void {
    const cancelled = this.#options.api.changeMessage(this.#options.block, id, 'cancel');
    cancelled.catch((error: Error) => this.#say(`blockhouse: ${oneLine(error.message)}`));
  }

  async #why(): Promise<void> {
    const { api, block, style, stdout } = this.#options;
    await writeLines(stdout, whyText(await api.explain(block), { now: Date.now(), style, width: widthOf(stdout) }));
  }

  async #memory(): Promise<void> {
    const { api, block, style, stdout } = this.#options;
    await writeLines(stdout, memoryText(await api.details(block), { now: Date.now(), style }));
  }

  async #monitor(action: 'start' | 'stop'): Promise<void> {
    const { api, block } = this.#options;
    await this.#say(oneLine((await api.monitor(block, action)).message));
    if (action === 'start') await this.#answers();
  }
}
