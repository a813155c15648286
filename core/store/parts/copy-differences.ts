// How two sides of a copy differ, in words for people. Pure: no I/O of its own.
import { tryParseJson } from '../../base/json.ts';
import type { CopiedSetting, CopiedSpend, CopySource, CopyTarget } from './copied.ts';
import { Bag, type BlockDigest, callText, canonical, type Digest, lineText } from './copy-digest.ts';

/** Something that is wrong, or differs. */
export interface CopyFinding {
  readonly place: string;
  readonly problem: string;
}

/** Sums in a database have nine digits after the point. */
export const NEARLY_USD = 1e-6;

/** The digest of a ledger; `blocks` gets the names in its lines. */
export async function ledgerDigest(side: CopySource, blocks = new Set<string>()): Promise<Digest> {
  const bag = new Bag();
  for await (const line of side.ledger()) {
    bag.add(lineText(line));
    blocks.add(line.block);
    if ('type' in line) blocks.add(line.from);
  }
  return bag.digest();
}

/** A folder keeps only the newest calls, so only as many are compared as the target has. */
export async function callDifferences(source: CopySource, target: CopyTarget): Promise<{ readonly differences: CopyFinding[]; readonly calls: number }> {
  const there = await callDigest(target, 0);
  let total = 0;
  for await (const _call of source.calls()) total += 1;
  const here = await callDigest(source, target.kind === 'files' ? Math.max(0, total - there.count) : 0);
  const differences = isEqual(here, there) ? [] : [{ place: 'client calls', problem: textOf(here, there) }];
  return { differences: [...differences, ...spentDifferences(await source.spent(), await target.spent())], calls: here.count };
}

async function callDigest(side: CopySource, skipped: number): Promise<Digest> {
  const bag = new Bag();
  let number = 0;
  for await (const call of side.calls()) {
    number += 1;
    if (number > skipped) bag.add(callText(call));
  }
  return bag.digest();
}

function spentDifferences(here: readonly CopiedSpend[], there: readonly CopiedSpend[]): CopyFinding[] {
  const byKey = (rows: readonly CopiedSpend[]): Map<string, CopiedSpend> => new Map(rows.map((row) => [`${row[1]} on ${row[0]}`, row]));
  const [ours, theirs] = [byKey(here), byKey(there)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].sort().flatMap((name) => {
    const [a, b] = [ours.get(name)?.[2], theirs.get(name)?.[2]];
    const shown = (sums: typeof a): string =>
      sums === undefined ? 'nothing' : `${sums.usd} USD and ${Math.ceil(sums.tokens)} tokens with ${sums.calls} calls`;
    const isSame =
      a !== undefined &&
      b !== undefined &&
      Math.abs(a.usd - b.usd) < NEARLY_USD &&
      Math.ceil(a.tokens) === Math.ceil(b.tokens) &&
      a.calls === b.calls &&
      a.unpricedCalls === b.unpricedCalls;
    return isSame ? [] : [{ place: 'client calls', problem: `${name.replace(/^group:/, 'group ')} has spent ${shown(a)}, and ${shown(b)} there` }];
  });
}

/** The token of a folder is its own; that of a database is the one that came with the copy, if one did. */
export async function settingDifferences(source: CopySource, target: CopyTarget): Promise<CopyFinding[]> {
  const [here, there] = [await source.settings(), await target.settings()];
  const names: readonly CopiedSetting[] = [
    'halt',
    'keys',
    'models',
    'mcp',
    'mcp-pins',
    'prices',
    'presets',
    ...(target.kind === 'files' || !here.has('token') ? [] : (['token'] as const)),
  ];
  return names
    .filter((name) => meaningOf(here.get(name)) !== meaningOf(there.get(name)))
    .map((name) => ({ place: 'settings', problem: `${name}: the content differs` }));
}

function meaningOf(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : tryParseJson(text);
  return value === undefined ? text?.trim() : canonical(value);
}

const NOTHING: Digest = { count: 0, hash: '' };

/** Which parts of a block differ. */
export function differencesOf(here: BlockDigest, there: BlockDigest): string[] {
  return [...new Set([...Object.keys(here), ...Object.keys(there)])].flatMap((part) => {
    const [a, b] = [here[part] ?? NOTHING, there[part] ?? NOTHING];
    return isEqual(a, b) ? [] : [`${part}: ${textOf(a, b)}`];
  });
}

/** Whether both sides have the same. */
export function isEqual(a: Digest, b: Digest): boolean {
  return a.count === b.count && a.hash === b.hash;
}

/** Says how two digests differ. */
export function textOf(a: Digest, b: Digest): string {
  return a.count === b.count ? 'the content differs' : `${a.count}, and ${b.count} there`;
}
