// How far a call of a tool is, for people who watch it. It stands in no journal: what counts after a crash is there.
//
// paced: of one call at most one fact in PACE_MS goes out, and then the newest. So a server that says it all the time costs nobody more.
// one-line: what a server says is one line of at most MAX_TEXT characters, without those that are not seen.
import type { CoreEvents } from '../../../bus.ts';
import { withoutInvisible } from '../../../tools/offer.ts';
import type { ToolProgress } from '../../../tools/port.ts';
import { beginningOf } from '../../../tools/results.ts';

const PACE_MS = 500;
const MAX_TEXT = 200;

/** What people hear of a call. */
export type ProgressFact = Omit<CoreEvents['tool.progressed'], 'block' | 'id' | 'call' | 'tool'>;

/** Tells of one call until it has ended. */
export class CallProgress {
  readonly #tell: (fact: ProgressFact) => void;
  readonly #paceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #newest: ProgressFact | undefined;
  #told = '';
  #isOver = false;

  constructor(tell: (fact: ProgressFact) => void, paceMs = PACE_MS) {
    this.#tell = tell;
    this.#paceMs = paceMs;
  }

  /** paced. The same is not said twice in a row. */
  note(progress: ToolProgress): void {
    if (this.#isOver) return;
    this.#newest = factOf(progress);
    if (this.#timer === undefined) this.#flush();
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  readonly #flush = (): void => {
    this.#timer = undefined;
    const text = JSON.stringify(this.#newest);
    if (this.#newest === undefined || text === this.#told) return;
    this.#told = text;
    this.#tell(this.#newest);
    this.#newest = undefined;
    this.#timer = setTimeout(this.#flush, this.#paceMs);
    this.#timer.unref();
  };
}

function factOf({ isTask, progress, total, message }: ToolProgress): ProgressFact {
  const line = lineOf(message);
  return {
    ...{ state: 'working', task: isTask },
    ...(isNumber(progress) && { progress }),
    ...(isNumber(total) && { total }),
    ...(line !== '' && { message: line }),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** one-line. */
function lineOf(text: unknown): string {
  if (typeof text !== 'string') return '';
  const line = withoutInvisible(text.slice(0, 4 * MAX_TEXT))
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return beginningOf(line, MAX_TEXT);
}
