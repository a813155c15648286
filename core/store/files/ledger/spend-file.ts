// The sums of keys and groups: `gateway-spend.json`, from which they are known although the ledger keeps less than a busy month.
//
// sums-and-place: the sums and the place in the ledger up to which they have its lines are replaced together. A reader adds the lines after that place.
// known-files: a file of the ledger is known by a hash of its first line, so that it is found again when it was renamed.
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isObject, tryParseJson } from '../../../base/json.ts';
import { BlockhouseError } from '../../../errors.ts';
import { replaceFile } from '../atomic-file.ts';
import { isPassingFault, readFault, readRegular } from '../regular-file.ts';
import { countable, type KeyDay, SpendDays } from '../../parts/spend-days.ts';

/** A thousand keys that spend on each of 64 days have about 8 MiB. */
const MAX_BYTES = 64 * 1024 * 1024;
const DAY = /^\d{4}-\d\d-\d\d$/;
const NEWLINE = 0x0a;

/** A place between two lines of the ledger. */
export interface LedgerPlace {
  /** The files of the ledger that had lines then, the newest first. known-files. */
  readonly files: readonly string[];
  /** In the newest one. */
  readonly bytes: number;
}

/** What the file says. */
export interface SavedSpend {
  readonly spent: SpendDays;
  readonly place: LedgerPlace;
}

/** known-files. `lines` is the beginning of the file. */
export function fileIdOf(lines: Uint8Array): string {
  const end = lines.indexOf(NEWLINE);
  return createHash('sha256')
    .update(end < 0 ? lines : lines.subarray(0, end))
    .digest('base64url');
}

/** Undefined where there is no file. Throws WORKSPACE_DAMAGED, or STORAGE_FAILED when another try may succeed. */
export async function readSpend(path: string): Promise<SavedSpend | undefined> {
  try {
    const bytes = await readRegular(path, MAX_BYTES);
    return bytes && parsed(bytes.toString());
  } catch (error) {
    if (isPassingFault(error)) throw error;
    const message = `${basename(path)} can't be used: ${readFault(error as Error)}. Repair it, or remove it: then only the calls count that are still in the ledger.`;
    throw new BlockhouseError('WORKSPACE_DAMAGED', message, { cause: error });
  }
}

/** It is on disk when this resolves. Rejects with STORAGE_FULL, or the system's own error; then the file is as it was. */
export async function writeSpend(path: string, { spent, place }: SavedSpend): Promise<void> {
  await replaceFile(path, `{"ledger":${JSON.stringify(place)},"days":${spent.text()}}\n`);
}

function parsed(text: string): SavedSpend {
  const value = tryParseJson(text);
  if (!isObject(value)) throw new Error('it must hold an object');
  const { ledger, days } = value;
  if (!isObject(days)) throw new Error('days must be an object');
  const spent = new SpendDays();
  for (const [day, accounts] of Object.entries(days)) {
    if (!DAY.test(day) || !isObject(accounts)) throw new Error(`days.${day.slice(0, 64)} must be an object under a date`);
    for (const [account, sums] of Object.entries(accounts)) spent.add(day, account, sumsOf(sums, day));
  }
  return { spent, place: placeOf(ledger) };
}

function sumsOf(value: unknown, day: string): KeyDay {
  if (!isObject(value)) throw new Error(`days.${day} must hold objects`);
  const sum = (name: keyof KeyDay): number => countable(value[name]);
  return { usd: sum('usd'), tokens: sum('tokens'), calls: sum('calls'), unpricedCalls: sum('unpricedCalls'), output: sum('output'), answers: sum('answers') };
}

function placeOf(value: unknown): LedgerPlace {
  const { files, bytes } = isObject(value) ? value : {};
  const isPlace = Array.isArray(files) && files.every((file) => typeof file === 'string') && Number.isSafeInteger(bytes) && (bytes as number) >= 0;
  if (!isPlace) throw new Error('ledger must have a list of files and a number of bytes');
  return { files: files as string[], bytes: bytes as number };
}
