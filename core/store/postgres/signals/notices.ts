// Notices between servers, as payloads of NOTIFY. Pure: no I/O.
//
// fits: PostgreSQL takes payloads of less than 8,000 bytes, so one that would be longer becomes several. An item that fits into none is left out, such as a call of a tool whose name a
//   model has made up: it would keep all that are sent with it from being sent.
// other-versions: a notice of another version, or one that can't be read, is left out, and so is an item of another form. Nothing is true because of a notice, so
//   nothing is lost.
import { isObject, tryParseJson } from '../../../base/json.ts';
import type { StreamFrame } from '../../../types.ts';
import { RUN_FACTS, type RunFact } from '../../run-fact.ts';
import { pieces } from './pieces.ts';

type StepOf<F> = F extends StreamFrame ? Readonly<Omit<F, 'type' | 'block'>> : never;
/** A step of a reply while it is written. */
export type Step = StepOf<StreamFrame>;

/** What one server says to others. */
export type Item =
  /** The block has, or may have, something to do; its owner, or anybody, looks. */
  | { readonly is: 'work'; readonly block: number }
  /** A document of the block has changed. */
  | { readonly is: 'document'; readonly block: number; readonly kind: string }
  /** Somebody wants something of the owner: a stop, the end of a reply. */
  | { readonly is: 'wish'; readonly block: number }
  /** A reservation of the block has ended, or the block has no owner any more. */
  | { readonly is: 'released'; readonly block: number }
  /** A block has come or gone, or has another name. */
  | { readonly is: 'moved'; readonly name: string }
  /** Something has happened in a run. */
  | { readonly is: 'run'; readonly fact: RunFact }
  /** A setting has changed. */
  | { readonly is: 'setting' }
  /** To the owner: the sender follows the block, and has its steps up to `since`. */
  | { readonly is: 'follow'; readonly block: number; readonly since: number }
  /** To a follower. */
  | { readonly is: 'step'; readonly block: number; readonly step: Step }
  /** To itself: whether notices arrive. */
  | { readonly is: 'test'; readonly id: string };

/** A payload that was read. */
export interface Notice {
  /** The server that sent it. */
  readonly from: string;
  readonly items: readonly Item[];
}

const VERSION = 1;
/** fits. PostgreSQL allows 7,999. */
const MAX_BYTES = 7900;
/** What a step needs beside its text. */
const FRAME_BYTES = 600;

/** As many payloads as it takes; equal items are sent once. */
export function payloadsOf(from: string, items: readonly Item[]): string[] {
  const head = `{"v":${VERSION},"from":${JSON.stringify(from)},"items":[`;
  const payloads: string[] = [];
  let texts: string[] = [];
  let bytes = 0;
  const end = (): void => {
    if (texts.length > 0) payloads.push(`${head}${texts.join(',')}]}`);
    texts = [];
    bytes = Buffer.byteLength(head) + 2;
  };
  end();
  for (const text of new Set(items.flatMap(piecesOf).map((item) => JSON.stringify(item)))) {
    const size = Buffer.byteLength(text) + 1;
    if (Buffer.byteLength(head) + 2 + size > MAX_BYTES) continue;
    if (bytes + size > MAX_BYTES) end();
    texts.push(text);
    bytes += size;
  }
  end();
  return payloads;
}

/** Undefined for one of another version. other-versions. */
export function noticeOf(payload: string): Notice | undefined {
  const value = tryParseJson(payload);
  if (!isObject(value)) return undefined;
  const { v, from, items } = value;
  if (v !== VERSION || typeof from !== 'string' || !Array.isArray(items)) return undefined;
  return { from, items: items.filter(isItem) };
}

type Fields = Readonly<Record<string, unknown>>;
const hasBlock = ({ block }: Fields): boolean => Number.isSafeInteger(block);

/** The form of each item. */
const FORMS: ReadonlyMap<unknown, (item: Fields) => boolean> = new Map<Item['is'], (item: Fields) => boolean>([
  ['work', hasBlock],
  ['wish', hasBlock],
  ['released', hasBlock],
  ['document', (item) => hasBlock(item) && typeof item['kind'] === 'string'],
  ['moved', ({ name }) => typeof name === 'string'],
  ['run', ({ fact }) => isRunFact(fact)],
  ['setting', () => true],
  ['follow', (item) => hasBlock(item) && Number.isSafeInteger(item['since'])],
  ['step', (item) => hasBlock(item) && isStep(item['step'])],
  ['test', ({ id }) => typeof id === 'string'],
]);

/** other-versions. */
function isItem(item: unknown): item is Item {
  return isObject(item) && FORMS.get(item['is'])?.(item) === true;
}

function isRunFact(fact: unknown): boolean {
  if (!isObject(fact) || !RUN_FACTS.some((name) => name === fact['name'])) return false;
  const place = String(fact['name']).startsWith('tool.') ? fact['call'] : fact['approval'];
  return [fact['block'], fact['id'], place].every((text) => typeof text === 'string');
}

function isStep(step: unknown): boolean {
  if (!isObject(step) || typeof step['id'] !== 'string' || typeof step['event'] !== 'string' || !Number.isSafeInteger(step['seq'])) return false;
  return step['event'] !== 'content' || typeof step['text'] === 'string';
}

/** A step that would be too long becomes several with the same text; the numbers are those of the characters. */
function piecesOf(item: Item): Item[] {
  if (item.is !== 'step' || item.step.event !== 'content') return [item];
  const { block, step } = item;
  const texts = pieces(step.text, MAX_BYTES - FRAME_BYTES);
  let seq = step.seq - step.text.length;
  return texts.map((text) => {
    seq += text.length;
    return { is: 'step', block, step: { ...step, text, seq } };
  });
}
