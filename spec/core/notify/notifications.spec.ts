import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { newSecret } from '../../../core/base/webhook-signature.ts';
import { type CoreBus, createBus } from '../../../core/bus.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { NoticeBody } from '../../../core/notify/notices.ts';
import { Notifications } from '../../../core/notify/notifications.ts';
import type { Target } from '../../../core/notify/targets.ts';
import type { Approval } from '../../../core/types.ts';
import { MemoryFiles } from '../../support/notify/memory-files.ts';
import { until } from '../../support/until.ts';
import { notifyingCore, startReceiver } from '../../support/notify/receiver.ts';

t.test('an answered message is told to a target that wants to hear of it, signed', async (t) => {
  const receiver = await startReceiver(t);
  const one = await notifyingCore(t);
  await one.create('ada');
  const { secret = '', target } = await one.blocks.setNotifyTarget('phone', { url: `${receiver.url}/in`, events: ['message.done'] });
  t.match(target, { name: 'phone', url: `${receiver.url}/…`, events: ['message.done'], state: 'on', pending: 0, dropped: 0, last: null });
  const asked = one.ask('ada', 'Say canary-7f3.');
  await one.blocks.start('ada');
  await asked;
  const [notice] = await receiver.came(secret, 1);
  t.match(notice, { type: 'message.done', text: 'ada has answered a message.', data: { block: 'ada', messageId: String } });
  t.notMatch(receiver.requests[0]?.body, /canary/);
  await until('nothing is pending', () => readdirSync(join(one.workspace, 'notify/pending-phone')).length === 0);
  t.match((await one.blocks.notifyTargets()).targets, [{ pending: 0, last: { status: 204 } }]);
});

t.test('without a target, nothing is made, loaded or timed', async (t) => {
  const one = await notifyingCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'Hello.');
  t.notOk(existsSync(join(one.workspace, 'notify')));
});

interface Direct {
  readonly notifications: Notifications;
  readonly bus: CoreBus;
  readonly files: MemoryFiles;
  readonly sent: { readonly headers: Readonly<Record<string, string>>; readonly body: NoticeBody }[];
  readonly faults: string[];
  answer: (signal: AbortSignal) => Promise<number>;
  waiting: Approval | undefined;
}

const SECRET = newSecret();
const TARGET: Target = {
  url: 'http://127.0.0.1:9/',
  events: ['approval.asked', 'message.done'],
  blocks: null,
  links: true,
  publicURL: 'https://b.example',
  secret: SECRET,
};
const APPROVAL = { id: 'a1', block: 'ada', messageId: 'm1', kind: 'call', tool: 'bank/pay', digest: 'd1', expiresAt: '2999-01-01T00:00:00.000Z' } as Approval;
const REQUESTED = { block: 'ada', id: 'm1', approval: 'a1', tool: 'bank/pay', because: 'rule', expiresAt: APPROVAL.expiresAt } as const;

async function direct(t: Test, target: Partial<Target> = {}): Promise<Direct> {
  const bus = createBus();
  const files = new MemoryFiles();
  const one: Omit<Direct, 'notifications'> = { bus, files, sent: [], faults: [], answer: async () => 204, waiting: APPROVAL };
  bus.on('workspace.fault', ({ error }) => void one.faults.push(error));
  const notifications = new Notifications({
    bus,
    files,
    sender: {
      send: (_url, headers, body, signal) => {
        one.sent.push({ headers, body: JSON.parse(Buffer.from(body).toString()) });
        return one.answer(signal);
      },
      close: async () => undefined,
    },
    now: Date.now,
    monotonic: () => performance.now(),
    address: () => 'http://127.0.0.1:8420',
    waiting: async () => one.waiting,
  });
  await notifications.open();
  await notifications.set(new Map([['phone', { ...TARGET, ...target }]]), new Set(['phone']));
  t.teardown(() => notifications.close());
  return Object.assign(one, { notifications });
}

t.test('a call that waits comes with a link of its own for each target, which opens that call and digest', async (t) => {
  const one = await direct(t);
  await one.notifications.set(
    new Map([
      ['phone', TARGET],
      ['desk', TARGET],
      ['plain', { ...TARGET, links: false }],
    ]),
    new Set(['phone', 'desk', 'plain']),
  );
  one.bus.emit('approval.requested', REQUESTED);
  await until('all have it', () => one.sent.length === 3);
  const links = one.sent.flatMap(({ body }) => (body.data['decide'] === undefined ? [] : [String(body.data['decide'])]));
  t.equal(new Set(links).size, 2);
  for (const link of links) {
    t.match(link, /^https:\/\/b\.example\/api\/decide\/[A-Za-z0-9_-]{43}$/);
    t.match(one.notifications.ticket(link.split('/').at(-1) ?? ''), { block: 'ada', messageId: 'm1', approval: 'a1', digest: 'd1' });
  }
  for (const { headers, body } of one.sent) new Webhook(SECRET).verify(JSON.stringify(body), headers as Record<string, string>);
});

t.test('there is no link for what a click can not decide, without links, and while the disk takes no ticket', async (t) => {
  const told = async (one: Direct): Promise<NoticeBody | undefined> => {
    one.bus.emit('approval.requested', REQUESTED);
    await until('it has come', () => one.sent.length > 0);
    return one.sent[0]?.body;
  };
  for (const kind of ['unknown', 'input'] as const) {
    const one = await direct(t);
    one.waiting = { ...APPROVAL, kind };
    t.equal((await told(one))?.data['decide'], undefined, kind);
    t.equal(one.files.in('tickets').size, 0);
  }
  t.equal((await told(await direct(t, { links: false })))?.data['decide'], undefined);
  const full = await direct(t);
  full.files.isFull = true;
  t.equal((await told(full))?.data['decide'], undefined);
  t.match(full.faults, [/ENOSPC/, /ENOSPC/]);
});

t.test('the page of this server is named by what people call it, or by where it listens', async (t) => {
  for (const [publicURL, url] of [
    ['https://b.example', 'https://b.example/ui/blocks/a%20b'],
    [null, 'http://127.0.0.1:8420/ui/blocks/a%20b'],
  ] as const) {
    const one = await direct(t, { links: false, publicURL });
    one.bus.emit('message.finished', { block: 'a b', id: 'm1', status: 'done' });
    await until('it has come', () => one.sent.length > 0);
    t.equal(one.sent[0]?.body.data['url'], url);
  }
});

t.test('after the end nothing is sent, and what was under way is kept', async (t) => {
  const one = await direct(t);
  one.answer = (signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new BlockhouseError('CANCELLED', 'The server ends.')), { once: true }));
  one.bus.emit('message.finished', { block: 'ada', id: 'm1', status: 'done' });
  await until('it is under way', () => one.sent.length === 1);
  await one.notifications.close();
  one.bus.emit('message.finished', { block: 'ada', id: 'm2', status: 'done' });
  t.equal(one.files.in('pending-phone').size, 1);
  t.equal(one.sent.length, 1);
  t.same(one.faults, []);
});

t.test('a test says what became of it, in words of ours, and changes nothing', async (t) => {
  const one = await direct(t);
  t.match(await one.notifications.test('phone'), { delivered: true, status: 204, problem: null });
  t.match(one.sent, [{ body: { type: 'test' } }]);
  one.answer = async () => 500;
  t.match(await one.notifications.test('phone'), { delivered: false, status: 500, problem: null });
  const failures = { UPSTREAM_TIMEOUT: /in time/, INVALID_REQUEST: /link-local/, UPSTREAM_UNREACHABLE: /No connection/ } as const;
  for (const [code, problem] of Object.entries(failures)) {
    one.answer = async () => {
      throw new BlockhouseError(code as keyof typeof failures, 'canary');
    };
    t.match(await one.notifications.test('phone'), { delivered: false, status: null, problem });
  }
  t.equal(await one.notifications.test('other'), undefined);
  t.match(one.notifications.view('phone'), { last: null, pending: 0, state: 'on' });
});
