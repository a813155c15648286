import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { splitOld } from '../../../../../core/block/conversation/retention.ts';
import { noCosts } from '../../../../../core/block/costs/costs.ts';
import type { ChatEntry } from '../../../../../core/schemas/chat-entry.ts';
import { writeBlock } from '../../../../../core/store/files/copy/block-writing.ts';
import type { CopiedBlock } from '../../../../../core/store/parts/copied.ts';
import { AT, configOf, memoryOf, pulseOf, userEntry } from '../../../../support/block-files.ts';

const NOW = Date.parse('2026-11-27T00:00:00.000Z');
const documents = { config: configOf(), memory: memoryOf(), costs: noCosts(), pulse: pulseOf() };

function block(entries: readonly ChatEntry[], pieces: number): CopiedBlock {
  return {
    place: 'blocks/a',
    documents,
    archived: undefined,
    left: [],
    runs: [],
    logs: [
      {
        file: 'one.log',
        at: new Date(AT),
        pieces: async function* () {
          yield Buffer.from('a');
          yield Buffer.from('b\n');
        },
      },
    ],
    async *entries() {
      for (let from = 0; from < entries.length; from += pieces) yield entries.slice(from, from + pieces);
    },
  };
}

t.test('the newest entries and those that wait are active, and all others in files of their months, as a server would have left them', async (t) => {
  const month = (n: number): string => (n < 900 ? '2026-09' : n < 1500 ? '2026-11' : '2027-03');
  const entries = Array.from({ length: 2200 }, (_, n) =>
    n === 7 ? userEntry('waits', { status: 'queued', processed: false }) : userEntry(`m${n}`, { clientId: `c${n}`, timestamp: `${month(n)}-10T00:00:00.000Z` }),
  );
  for (const pieces of [33, 5000]) {
    const folder = join(t.testdir(), `${pieces}`);
    await writeBlock(folder, block(entries, pieces), NOW);
    const active = JSON.parse(readFileSync(join(folder, 'chat.json'), 'utf8')) as ChatEntry[];
    const lines = readdirSync(join(folder, 'chat-archive')).sort();
    t.strictSame(lines, ['2026-09.jsonl', '2026-11.jsonl', 'client-ids.jsonl'], 'no month after that of the copy');
    const old = lines.slice(0, 2).flatMap((name) =>
      readFileSync(join(folder, 'chat-archive', name), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ChatEntry),
    );
    t.strictSame(
      [...old, ...active.filter(({ id }) => id !== 'waits')],
      entries.filter(({ id }) => id !== 'waits'),
    );
    t.equal(active[0]?.id, 'waits');
    t.strictSame(splitOld(active).old, []);
    const ids = readFileSync(join(folder, 'chat-archive/client-ids.jsonl'), 'utf8').trim().split('\n');
    t.equal(ids.length, old.length);
    t.strictSame(JSON.parse(ids.at(-1) ?? ''), { id: old.at(-1)?.id, clientId: old.at(-1)?.clientId });
  }
});

t.test('a small block has all folders, and the log its time', async (t) => {
  const folder = join(t.testdir(), 'a');
  await writeBlock(folder, { ...block([], 1), archived: { archiveName: 'a', originalName: 'a', archivedAt: AT } as NonNullable<CopiedBlock['archived']> }, NOW);
  t.strictSame(readdirSync(folder).sort(), ['archive.json', 'chat-archive', 'chat.json', 'config.json', 'costs.json', 'logs', 'memory.json', 'pulse.json']);
  t.equal(readFileSync(join(folder, 'logs/one.log'), 'utf8'), 'ab\n');
  t.equal(statSync(join(folder, 'logs/one.log')).mtime.toISOString(), AT);
  await t.rejects(writeBlock(folder, block([], 1), NOW), { code: 'EEXIST' });
});
