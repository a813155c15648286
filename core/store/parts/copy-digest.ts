// What tells two copies of a thing apart: counts and hashes of contents, the same from whichever store they come. Pure: no I/O.
//
// as-read: what the product reads alike has the same digest. A field that is left out has its default, and the order of fields says nothing.
// waiting-apart: files keep messages that wait beside the newest entries, so they have an order of their own.
import { createHash } from 'node:crypto';
import { inOrder } from '../../base/json.ts';
import { isWaiting } from '../../block/conversation/chat-file.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { GatewayCall } from '../port.ts';
import type { CopiedBlock, CopiedLine } from './copied.ts';

/** How many there are of something, and the hash of all. */
export interface Digest {
  readonly count: number;
  readonly hash: string;
}

/** The digests of the parts of a block, by their names for people. */
export type BlockDigest = Readonly<Record<string, Digest>>;

const TIMES = ['nextAttemptAt', 'startedAt', 'finishedAt'] as const;
/** In JSON, what a database has no text for. */
const NO_TEXT = /\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/** JSON in which fields have one order, so that the same value is the same text. */
export function canonical(value: unknown): string {
  return JSON.stringify(inOrder(value)) ?? 'null';
}

/** Reads the whole block. Rejects with what its reading rejects with. */
export async function digestOf(block: CopiedBlock): Promise<BlockDigest> {
  const { documents, archived, logs, runs } = block;
  const texts = Object.entries({ ...documents, archive: archived ?? null }).map(([part, value]) => [part, { count: 1, hash: hashOf(canonical(value)) }]);
  const [done, waiting] = [new Chain(), new Chain()];
  for await (const entries of block.entries()) for (const entry of entries) (isWaiting(entry) ? waiting : done).add(entryText(entry)); // waiting-apart
  const lines = new Chain();
  for (const { file, pieces } of logs.toSorted((a, b) => (a.file < b.file ? -1 : 1))) {
    const hash = createHash('sha256');
    for await (const piece of pieces()) hash.update(piece);
    lines.add(`${file} ${hash.digest('hex')}`);
  }
  const journals = new Chain();
  for (const { file, bytes } of runs)
    journals.add(
      `${file} ${createHash('sha256')
        .update(await bytes())
        .digest('hex')}`,
    );
  return {
    ...Object.fromEntries(texts),
    messages: done.digest(),
    'waiting messages': waiting.digest(),
    'log files': lines.digest(),
    ...(runs.length > 0 && { runs: journals.digest() }),
  };
}

/** Of things in whatever order. */
export class Bag {
  #count = 0;
  #sum = 0n;

  add(text: string): void {
    this.#count += 1;
    this.#sum = (this.#sum + BigInt(`0x${hashOf(text).slice(0, 32)}`)) % (1n << 128n);
  }

  digest(): Digest {
    return { count: this.#count, hash: this.#sum.toString(16) };
  }
}

/** A line of the ledger, as far as it means something. */
export function lineText(line: CopiedLine): string {
  if ('type' in line) return canonical([line.from, line.block]);
  const { leastUsd: _least, ...call } = line; // which a database does not keep
  return canonical({ ...call, at: isoOf(call.at) }).replace(NO_TEXT, '\ufffd');
}

/** The call of a client. */
export function callText({ id: _id, leastUsd, ...call }: GatewayCall): string {
  return canonical({ ...call, at: isoOf(call.at), ...(leastUsd != null && { leastUsd }) }).replace(NO_TEXT, '\ufffd');
}

/** Things in their order. */
class Chain {
  readonly #hash = createHash('sha256');
  #count = 0;

  add(text: string): void {
    this.#count += 1;
    this.#hash.update(text).update('\n');
  }

  digest(): Digest {
    return { count: this.#count, hash: this.#hash.digest('hex') };
  }
}

/** as-read. */
function entryText({ waitingFor = [], ...entry }: ChatEntry): string {
  const { attempts = 0, error = null } = entry;
  const waits = entry.status === 'waiting-approval' && waitingFor.length > 0 ? { waitingFor } : {};
  const times = TIMES.map((field) => [field, entry[field] == null ? undefined : isoOf(entry[field])] as const);
  return canonical({ ...entry, ...waits, ...Object.fromEntries(times), timestamp: isoOf(entry.timestamp), processed: !isWaiting(entry), attempts, error });
}

function isoOf(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) throw new Error(`${JSON.stringify(time.slice(0, 64))} is no time`);
  return at.toISOString();
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
