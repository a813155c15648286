import t from 'tap';
import type { CopiedBlock } from '../../../../core/store/parts/copied.ts';
import { Bag, callText, canonical, digestOf, lineText } from '../../../../core/store/parts/copy-digest.ts';
import { halfCopy, parseNote } from '../../../../core/store/parts/copy-note.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import type { Entries } from '../../../../core/store/port.ts';
import { noCosts } from '../../../../core/block/costs/costs.ts';
import { AT, configOf, memoryOf, pair, pulseOf, userEntry } from '../../../support/block-files.ts';

function block(entries: Entries, fields: Partial<CopiedBlock> = {}): CopiedBlock {
  const documents = { config: configOf(), memory: memoryOf(), costs: noCosts(), pulse: pulseOf() };
  const one = async function* (): AsyncGenerator<Entries> {
    yield entries.slice(0, 1);
    yield entries.slice(1);
  };
  return { place: 'blocks/a', documents, archived: undefined, logs: [], runs: [], left: [], entries: one, ...fields };
}
const log = (file: string, ...pieces: string[]): CopiedBlock['logs'][number] => ({
  file,
  at: new Date(AT),
  async *pieces() {
    for (const piece of pieces) yield Buffer.from(piece);
  },
});

t.test('what the product reads alike is the same', async (t) => {
  const [one, two] = pair('m');
  if (one === undefined || two === undefined) throw new Error('a pair has two');
  const first = await digestOf(block([one, two], { logs: [log('b', 'x'), log('a', 'one\ntwo')] }));
  const { status, ...others } = one;
  const other = [{ status, ...others, attempts: 0, error: null, timestamp: AT.replace('Z', '+00:00') }, two];
  t.same(await digestOf(block(other, { logs: [log('a', 'one\n', 'two'), log('b', 'x')] })), first, 'order of fields, defaults, pieces');
  t.match(first, { config: { count: 1 }, messages: { count: 2 }, 'waiting messages': { count: 0 }, 'log files': { count: 2 } });
  const waits = userEntry('w', { status: 'queued', processed: false });
  t.same(await digestOf(block([waits, one, two])), await digestOf(block([one, two, waits])), 'where a message waits');
});

t.test('each part tells what differs in it', async (t) => {
  const entries = pair('m');
  const first = await digestOf(block(entries));
  const documents = block([]).documents;
  const cases: [part: string, other: CopiedBlock][] = [
    ['messages', block(pair('m', { content: 'else' }))],
    ['messages', block(entries.toReversed())],
    ['waiting messages', block([...entries, userEntry('w', { status: 'queued' })])],
    ['config', block(entries, { documents: { ...documents, config: configOf({ rev: 9 }) } })],
    ['memory', block(entries, { documents: { ...documents, memory: memoryOf({ summary: 's' }) } })],
    ['log files', block(entries, { logs: [log('a', 'x')] })],
    ['messages', block([...entries.slice(0, 1), { ...(entries[1] as ChatEntry), steps: [] }])],
    ['archive', block(entries, { archived: { archiveName: 'a', originalName: 'a', archivedAt: AT } as NonNullable<CopiedBlock['archived']> })],
  ];
  for (const [part, other] of cases) {
    const found = await digestOf(other);
    t.same(
      Object.keys(first).filter((one) => canonical(found[one]) !== canonical(first[one])),
      [part],
      part,
    );
  }
  await t.rejects(digestOf(block([userEntry('m', { timestamp: 'yesterday' })])), /"yesterday" is no time/);
});

t.test('lines are told apart by what they mean, in whatever order', async (t) => {
  const line = { at: AT, block: 'a', provider: 'p', model: 'm \0', purpose: 'chat', usage: null, costUsd: 1, messageId: null, id: 'x' } as const;
  const call = {
    at: AT,
    requestId: 'r',
    key: null,
    provider: 'p',
    model: 'm',
    usage: null,
    costUsd: null,
    firstTextMs: null,
    durationMs: 1,
    error: null,
  } as const;
  t.equal(lineText({ type: 'carried', at: AT, from: 'a', block: 'b' }), lineText({ type: 'carried', at: '2026-01-01T00:00:00.000Z', from: 'a', block: 'b' }));
  t.equal(lineText(line), lineText({ ...line, model: 'm \ufffd' }), 'a database has no such text');
  t.not(lineText(line), lineText({ ...line, costUsd: 2 }));
  t.equal(callText({ ...call, id: 'journal', leastUsd: null }), callText(call));
  const bags = [new Bag(), new Bag(), new Bag()] as const;
  for (const text of ['a', 'b', 'b']) bags[0].add(text);
  for (const text of ['b', 'a', 'b']) bags[1].add(text);
  for (const text of ['b', 'a', 'a']) bags[2].add(text);
  t.same(bags[0].digest(), bags[1].digest());
  t.strictNotSame(bags[0].digest(), bags[2].digest());
});

t.test('a note that can not be read stands for a copy that is not whole', async (t) => {
  const note = { source: 's', from: 'f', isWhole: true };
  t.same(parseNote(JSON.stringify(note)), note);
  for (const text of ['', '[]', '{"isWhole":"true"}']) t.match(parseNote(text), { isWhole: false });
  t.match(halfCopy('here', note), { code: 'WORKSPACE_DAMAGED', message: /^here holds a copy of f that is not whole/ });
});
