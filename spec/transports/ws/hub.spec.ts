import t from 'tap';
import { type ApiToken, createBus } from '../../../core/index.ts';
import { Hub, type HubContext } from '../../../transports/ws/hub.ts';
import { DEFAULT_LIMITS } from '../../../transports/ws/limits.ts';
import { FollowStub, SocketDouble } from '../../support/follow-stub.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { LogLine } from '../../support/server.ts';

function create(look: () => void = () => undefined) {
  const clock = new ManualClock();
  const events = createBus();
  const log: LogLine[] = [];
  const at = (level: LogLine['level']) => (fields: object, message: string) => void log.push({ level, fields: fields as Record<string, unknown>, message });
  const token = {
    matches() {
      look();
      return false;
    },
  } as unknown as ApiToken;
  const core = { blocks: new FollowStub('a'), events, token } as unknown as HubContext['core'];
  const hub = new Hub({ core, clock, limits: DEFAULT_LIMITS, log: { debug: at('debug'), info: at('info'), error: at('error') } });
  const open = (id = 'req_1'): SocketDouble => {
    const socket = new SocketDouble();
    hub.add(socket.asWebSocket(), id);
    return socket;
  };
  return { hub, clock, events, log, open };
}

const bye = (socket: SocketDouble): boolean => socket.emit('close', 1000, Buffer.alloc(0));

t.test('timers and listeners are there only while somebody is connected', async (t) => {
  const { hub, clock, events, open, log } = create();
  t.equal(clock.pending, 0);
  const [first, second] = [open('req_1'), open('req_2')];
  t.strictSame([hub.size, clock.pending, events.all.get('token.rotated')?.length], [2, 2, 1]);
  bye(first);
  t.strictSame([hub.size, clock.pending], [1, 2]);
  bye(second);
  t.strictSame([hub.size, clock.pending, events.all.get('token.rotated')?.length], [0, 0, 0]);
  const third = open('req_3');
  t.strictSame([hub.size, clock.pending], [1, 2]);
  bye(third);
  t.strictSame([hub.size, clock.pending], [0, 0]);
  t.match(log[0], { level: 'debug', fields: { requestId: 'req_1', sockets: 1 } });
  t.match(log.at(-1), { level: 'debug', fields: { requestId: 'req_3', code: 1000, sockets: 0 } });
});

t.test('everybody is asked for a sign of life every 30 s, and who gives none is cut off', async (t) => {
  const { hub, clock, open } = create();
  const [lively, dead] = [open(), open()];
  clock.pass(30_000);
  t.strictSame([lively.said, dead.said], [['ping'], ['ping']]);
  lively.emit('pong', Buffer.alloc(0));
  clock.pass(30_000);
  t.strictSame(
    [lively.said, dead.said],
    [
      ['ping', 'ping'],
      ['ping', 'terminate'],
    ],
  );
  t.equal(hub.size, 1);
});

t.test('the token is looked at every second, and a new one ends every socket', async (t) => {
  let looks = 0;
  const parts = create(() => {
    looks += 1;
    if (looks === 5) parts.events.emit('token.rotated', { file: 'x' });
  });
  const sockets = Array.from({ length: 50 }, () => parts.open());
  parts.clock.pass(4999);
  t.strictSame([looks, sockets.some(({ said }) => said.length > 0)], [4, false]);
  parts.clock.pass(1);
  for (const { said } of sockets) t.strictSame(said, ['close 1008 The token was replaced.']);
});

t.test('a token file that can not be looked at is told in the log, and the server goes on', async (t) => {
  const { clock, open, log } = create(() => {
    throw Object.assign(new Error('i/o error'), { code: 'EIO' });
  });
  const socket = open();
  t.doesNotThrow(() => clock.pass(1000));
  t.strictSame(socket.said, []);
  t.match(log.at(-1), { level: 'error', fields: { err: { message: 'i/o error' } } });
});

t.test('a close says so to everybody, waits for them, and cuts off who does not answer', async (t) => {
  const { hub, clock, open } = create();
  const [polite, deaf] = [open(), open()];
  let closed = false;
  const closing = hub.close(1001).then(() => {
    closed = true;
  });
  for (const { said } of [polite, deaf]) t.strictSame(said, ['close 1001 The server is shutting down.']);
  bye(polite);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(closed, false);
  clock.pass(1000);
  await closing;
  t.equal(deaf.said.at(-1), 'terminate');
  t.notOk(polite.said.includes('terminate'));
  t.strictSame([hub.size, clock.pending], [0, 0]);
});

t.test('a close of nobody, and a second close, resolve', async (t) => {
  const { hub, open, clock } = create();
  await hub.close(1001);
  const socket = open();
  const both = Promise.all([hub.close(1001), hub.close(1001)]);
  bye(socket);
  await both;
  t.equal(clock.pending, 0);
});
