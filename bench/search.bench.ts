// How long does a search in what was said take? `npx tsx bench/search.bench.ts [conversations]` makes so many conversations with twenty entries each (10,000), and searches
// them: first without an index, then with one. Each line has the time and the processor time of the median of five searches beside those of reading the index alone.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileSearch } from '../core/store/files/search/file-search.ts';
import { SEARCH_FILES } from '../core/store/files/search/search-files.ts';
import { searchIn } from '../spec/support/search-in.ts';
import { median } from './harness/stats.ts';

const CONVERSATIONS = Number(process.argv[2] ?? 10_000);
const ENTRIES = 20;
const ENTRY_WORDS = 45;
const WORDS = Array.from({ length: 20_000 }, (_, n) => `${n.toString(36)}wo${((n * 7919) % 20_000).toString(36)}`);
const ROUNDS = 5;

const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
try {
  makeConversations();
  const search = new FileSearch(workspace, { blocks: join(workspace, 'blocks'), archive: join(workspace, 'archive') });
  const find = async (query: string): Promise<number> => (await searchIn(search, query, { limit: 20 })).total;
  tell('the first search, which makes the index', [await timed(() => find('zzzz'))]);
  const index = readFileSync(join(workspace, SEARCH_FILES[0])).length;
  tell(`reading an index of ${Math.round(index / 1e6)} MB`, await rounds(async () => readFileSync(join(workspace, SEARCH_FILES[0])).length));
  for (const [what, query] of [
    ['a word that is in no text', 'zzzz'],
    ['a rare word', WORDS[15_000]],
    ['two words', `${WORDS[300]} ${WORDS[500]}`],
    ['a part of a word that is in every text', 'wo'],
  ] as const)
    tell(`${what}: ${await find(query ?? '')} texts`, await rounds(() => find(query ?? '')));
  await search.close();
} finally {
  rmSync(workspace, { recursive: true, force: true });
}

function makeConversations(): void {
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0;
    return (seed >>> 0) / 2 ** 32;
  };
  const text = (): string => Array.from({ length: ENTRY_WORDS }, () => WORDS[Math.floor(random() ** 3 * WORDS.length)]).join(' ');
  mkdirSync(join(workspace, 'archive'));
  for (let block = 0; block < CONVERSATIONS; block += 1) {
    const folder = join(workspace, 'blocks', `b${block}`);
    mkdirSync(folder, { recursive: true });
    const entries = Array.from({ length: ENTRIES }, (_, n) => {
      const [role, status] = n % 2 === 0 ? ['user', 'done'] : ['assistant', 'done'];
      const timestamp = new Date(1.7e12 + block * 60_000 + n).toISOString();
      return { id: `${block}-${n}`, role, content: text(), timestamp, processed: true, status, channel: 'web' };
    });
    writeFileSync(join(folder, 'chat.json'), JSON.stringify(entries));
  }
}

interface Took {
  readonly ms: number;
  readonly cpuMs: number;
}

async function timed(work: () => Promise<unknown>): Promise<Took> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - began, cpuMs: (user + system) / 1000 };
}

async function rounds(work: () => Promise<unknown>): Promise<Took[]> {
  const all: Took[] = [];
  for (let round = 0; round < ROUNDS; round += 1) all.push(await timed(work));
  return all;
}

function tell(what: string, took: readonly Took[]): void {
  const [ms, cpuMs] = [median(took.map((each) => each.ms)), median(took.map((each) => each.cpuMs))];
  process.stdout.write(`${ms.toFixed(0).padStart(6)} ms ${cpuMs.toFixed(0).padStart(6)} ms of processor time  ${what}\n`);
}
