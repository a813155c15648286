// The images of results, for a model that takes them. The journal has only their number; they are read from the whole results.
//
// newest-first: together they have at most MAX_TOGETHER bytes of base64, because providers take no larger request. Older ones are a line with type and size.
import { isObject } from '../../../base/json.ts';
import { parseBytes } from '../../../base/strict-json.ts';
import type { RunState } from '../../../tools/journal.ts';
import { shownImages } from '../../../tools/results.ts';
import type { ContentPart } from '../../../types.ts';
import type { Candidate } from '../../status/candidates.ts';
import type { BlockContext } from '../block-context.ts';

const MAX_TOGETHER = 20 * 1024 * 1024;

/** Those of one run, for one model. */
export class ResultImages {
  /** By the place of their call. */
  readonly shown = new Map<string, readonly ContentPart[]>();
  readonly #known = new Map<string, readonly ContentPart[]>();
  readonly #context: BlockContext;
  readonly #messageId: string;
  readonly #isWanted: boolean;

  constructor(context: BlockContext, messageId: string, { provider, model }: Candidate) {
    this.#context = context;
    this.#messageId = messageId;
    this.#isWanted = context.world.gateway.takesImages(provider, model);
  }

  /** Reads those that are not read yet. */
  async load(state: RunState): Promise<void> {
    if (!this.#isWanted) return;
    this.shown.clear();
    let room = MAX_TOGETHER;
    for (const { place, outcome } of state.calls.toReversed()) {
      if (outcome?.t !== 'result' || outcome.images === undefined || outcome.ref === undefined) continue;
      const images = this.#known.get(place) ?? (await this.#read(outcome.ref));
      room -= images.reduce((sum, { data = '' }) => sum + data.length, 0);
      if (room < 0) break; // newest-first
      this.#known.set(place, images);
      this.shown.set(place, images);
    }
  }

  /** None where the whole result was dropped to make room for newer ones. */
  async #read(ref: string): Promise<readonly ContentPart[]> {
    const bytes = await this.#context.files.conversation.result(this.#messageId, ref);
    if (bytes === undefined) return [];
    const whole = parseBytes(bytes);
    const parts = isObject(whole) && Array.isArray(whole['parts']) ? (whole['parts'] as unknown[]).filter(isObject) : [];
    return shownImages(parts as unknown as ContentPart[]);
  }
}
