import { createHash } from 'node:crypto';
import t from 'tap';
import { Tickets } from '../../../core/notify/tickets.ts';
import type { Approval } from '../../../core/types.ts';
import { MemoryFiles } from '../../support/notify/memory-files.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-28T16:00:00Z');
const APPROVAL = { id: 'a1', block: 'ada', messageId: 'm1', digest: 'd1', expiresAt: new Date(NOW + DAY).toISOString() } as Approval;

function rig(files = new MemoryFiles()) {
  const clock = { now: NOW };
  const faults: string[] = [];
  return {
    files,
    clock,
    faults,
    tickets: new Tickets(
      files,
      () => clock.now,
      (error) => faults.push(String(error)),
    ),
  };
}

t.test('a ticket has 256 random bits, and the disk has its hash alone', async (t) => {
  const { tickets, files } = rig();
  const text = await tickets.make(APPROVAL, 'phone');
  t.match(text, /^[A-Za-z0-9_-]{43}$/);
  t.not(await tickets.make(APPROVAL, 'phone'), text);
  const stored = files.in('tickets');
  t.ok(stored.has(createHash('sha256').update(text).digest('hex')));
  t.notMatch(JSON.stringify([...stored]), text);
  t.match(tickets.find(text), { block: 'ada', approval: 'a1', digest: 'd1', target: 'phone', isUsed: false });
});

t.test('what is no ticket finds nothing', async (t) => {
  const { tickets } = rig();
  const text = await tickets.make(APPROVAL, 'phone');
  for (const wrong of ['', 'x', `${text}x`, text.slice(1), text.toUpperCase(), '__proto__', '../tickets']) t.equal(tickets.find(wrong), undefined, wrong);
});

t.test('it opens until it is used or has expired, also after a restart, and is then known for a week', async (t) => {
  const { tickets, files, clock } = rig();
  const [text, other] = [await tickets.make(APPROVAL, 'phone'), await tickets.make(APPROVAL, 'phone')];
  const isOpen = (which: Tickets, one: string): boolean | undefined => {
    const found = which.find(one);
    return found && which.isOpen(found);
  };
  t.equal(isOpen(tickets, text), true);
  await tickets.use(text);
  t.equal(isOpen(tickets, text), false);
  const again = rig(files);
  await again.tickets.open();
  t.equal(isOpen(again.tickets, text), false);
  t.equal(isOpen(again.tickets, other), true);
  clock.now += DAY;
  t.equal(isOpen(tickets, other), false);
  clock.now += 7 * DAY + 1;
  await tickets.make({ ...APPROVAL, expiresAt: new Date(clock.now + DAY).toISOString() }, 'phone');
  t.equal(tickets.find(text), undefined);
  t.equal(files.in('tickets').size, 1);
});

t.test('a full disk keeps no used ticket open', async (t) => {
  const { tickets, files, faults } = rig();
  const text = await tickets.make(APPROVAL, 'phone');
  files.isFull = true;
  await tickets.use(text);
  const found = tickets.find(text);
  t.equal(found && tickets.isOpen(found), false);
  t.match(faults, [/no space/]);
  await t.rejects(tickets.make(APPROVAL, 'phone'), { code: 'ENOSPC' });
});

t.test('at most a thousand are kept, and those of a removed target are forgotten', async (t) => {
  const { tickets, files } = rig();
  const first = await tickets.make(APPROVAL, 'phone');
  const mine = await tickets.make(APPROVAL, 'desk');
  for (let index = 0; index < 1000; index += 1) await tickets.make(APPROVAL, 'phone');
  t.equal(files.in('tickets').size, 1000);
  t.equal(tickets.find(first), undefined, 'the oldest goes first');
  t.equal(tickets.find(mine), undefined);
  const desk = await tickets.make(APPROVAL, 'desk');
  await tickets.forgetTarget('phone');
  t.equal(files.in('tickets').size, 1);
  t.ok(tickets.find(desk));
});

t.test('files that are no tickets are left alone', async (t) => {
  const files = new MemoryFiles();
  files.in('tickets').set('x', '{');
  files.in('tickets').set('y', '{"block":5}');
  const { tickets, faults } = rig(files);
  await tickets.open();
  t.equal(files.in('tickets').size, 2);
  t.equal(faults.length, 1);
});
