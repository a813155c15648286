// Decisions in the middle of a talk: the call that waits is shown, and /yes, /always and /no decide about it.
//
// as-shown: what is decided is what was shown last, by its digest; before anything is shown, nothing is decided.
import type { Writable } from 'node:stream';
import type { Decide, ShownApproval } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { FormFiller } from '../input/form-answers.ts';
import { fit } from '../terminal/layout.ts';
import { folded, oneLine, type Style, widthOf, writeLines } from '../terminal/output.ts';
import { approvalCard, decisionText } from '../views/approval-text.ts';

/** Where a person decides. */
export interface PlaceToDecide {
  readonly api: Api;
  readonly block: string;
  readonly style: Style;
  readonly output: Writable;
  /** Called when nothing of the block waits any more. */
  onDecided(): Promise<void>;
}

const WORDS = '/yes approves it once, /always also later calls of this tool, /no denies it, /show shows all of it';
const WORDS_OF_INPUT = '/yes answers it field by field, where - leaves one out, /no declines, /show shows all of it';
const WORDS_OF_UNKNOWN = '/ran says that it ran, /not-ran calls it, /tell leaves it to the model, /show shows all of it';

const words = { call: WORDS, unknown: WORDS_OF_UNKNOWN, input: WORDS_OF_INPUT } as const;

/** The commands of a talk about calls that wait. */
export class DecideInPlace {
  readonly commands: Readonly<Record<string, () => Promise<void>>>;
  readonly #place: PlaceToDecide;
  /** as-shown. */
  #shown: ShownApproval | undefined;
  /** Of a form that is being filled in. */
  #filler: FormFiller | undefined;

  constructor(place: PlaceToDecide) {
    this.#place = place;
    this.commands = {
      '/yes': () => (this.#shown?.kind === 'input' ? this.#ask(new FormFiller(this.#shown.request ?? {})) : this.#decide({ decision: 'approve' })),
      '/always': () => this.#decide({ decision: 'approve', scope: 'always' }),
      '/no': () => this.#decide({ decision: 'deny' }),
      '/ran': () => this.#decide({ decision: 'ran' }),
      '/not-ran': () => this.#decide({ decision: 'not-ran' }),
      '/tell': () => this.#decide({ decision: 'tell' }),
      '/show': async () => void (await this.show(true)),
    };
  }

  /** Shows the next call that waits, and how to decide, or says that none does. */
  async show(isWhole = false): Promise<boolean> {
    const isShown = (await this.showNext(isWhole)) !== undefined;
    if (!isShown) await this.#say('note: nothing waits for a decision.');
    return isShown;
  }

  /** Shows the next call that waits, and how to decide. Undefined, and nothing is said, if none does. */
  async showNext(isWhole = false): Promise<ShownApproval | undefined> {
    const { api, block, style, output } = this.#place;
    this.#filler = undefined;
    [this.#shown] = await api.approvals(block);
    if (this.#shown === undefined) return undefined;
    const card = approvalCard(this.#shown, { now: Date.now(), style });
    const width = widthOf(output);
    await writeLines(output, isWhole ? card : card.map((line) => fit(line, width)));
    await this.#say(`note: ${words[this.#shown.kind]}.`);
    return this.#shown;
  }

  /** A line that was typed while a form is filled in is an answer, and no message. False while none is. */
  async take(line: string): Promise<boolean> {
    const filler = this.#filler;
    if (filler === undefined) return false;
    filler.take(line.trim());
    await this.#ask(filler);
    return true;
  }

  async #ask(filler: FormFiller): Promise<void> {
    this.#filler = filler;
    if (filler.question !== undefined) return this.#say(filler.question.trimEnd());
    await this.#decide({ decision: 'approve', input: filler.answers });
  }

  async #decide(body: Omit<Decide, 'digest'>): Promise<void> {
    const shown = this.#shown;
    this.#filler = undefined;
    if (shown === undefined) return void (await this.show());
    this.#shown = undefined;
    const { approval } = await this.#place.api.decide(shown.id, { ...body, digest: shown.digest });
    await this.#say(`note: ${oneLine(decisionText(approval))}`);
    const [next] = await this.#place.api.approvals(this.#place.block);
    if (next !== undefined) await this.show();
    else await this.#place.onDecided();
  }

  #say(text: string): Promise<void> {
    const { output } = this.#place;
    return writeLines(
      output,
      text.split('\n').flatMap((line) => folded(line, widthOf(output))),
    );
  }
}
