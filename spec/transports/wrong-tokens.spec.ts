import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { BlockhouseError, type Core } from '../../core/index.ts';
import { isRepeated, WrongTokens } from '../../transports/wrong-tokens.ts';
import { startServer } from '../support/server.ts';

const RIGHT = 'right';
const core = { token: { matches: (token: string) => token === RIGHT } } as unknown as Core;
const from = (remoteAddress: string): IncomingMessage => ({ socket: { remoteAddress } }) as unknown as IncomingMessage;

function codeOf(tokens: WrongTokens, address: string, token: string | undefined): string {
  try {
    tokens.assertRight(core, from(address), token, 'the cure');
    return 'ok';
  } catch (error) {
    return error instanceof BlockhouseError ? error.code : String(error);
  }
}

t.test('twenty wrong tokens a minute are called wrong, further ones too many; the right one is always taken', async (t) => {
  let now = 0;
  const tokens = new WrongTokens(() => now);
  for (let i = 0; i < 20; i += 1) t.equal(codeOf(tokens, 'a', `wrong ${i}`), 'UNAUTHORIZED');
  now = 10_000;
  t.throws(() => tokens.assertRight(core, from('a'), 'wrong', 'the cure'), { code: 'TOO_MANY_ATTEMPTS', retryAfterMs: 50_000 });
  t.equal(codeOf(tokens, 'a', RIGHT), 'ok');
  t.equal(codeOf(tokens, 'a', 'wrong'), 'TOO_MANY_ATTEMPTS');
  t.equal(codeOf(tokens, 'b', 'wrong'), 'UNAUTHORIZED', 'another address has its own count');
  t.equal(codeOf(tokens, 'a', undefined), 'UNAUTHORIZED', 'no token is no attempt');
  now = 60_000;
  t.equal(codeOf(tokens, 'a', 'wrong'), 'UNAUTHORIZED', 'the next minute');
});

t.test('of the refusals of one minute the first is news, for each address', async (t) => {
  let now = 0;
  const tokens = new WrongTokens(() => now);
  const repeated = (address: string): boolean => {
    try {
      tokens.assertRight(core, from(address), 'wrong', 'the cure');
    } catch (error) {
      return isRepeated(error as BlockhouseError);
    }
    throw new Error('it was taken');
  };
  const minute = (address: string): boolean[] => Array.from({ length: 23 }, () => repeated(address));
  const expected = [...new Array(21).fill(false), true, true];
  t.strictSame(minute('a'), expected);
  t.strictSame(minute('b'), expected);
  now = 60_000;
  t.strictSame(minute('a'), expected);
});

t.test('a program that goes on with wrong tokens does not fill the log', async (t) => {
  const server = await startServer(t);
  const ask = (path: string): Promise<number> =>
    server.call('GET', path, { headers: { authorization: 'Bearer wrong' }, token: false }).then(({ status }) => status);
  for (let i = 0; i < 20; i += 1) t.equal(await ask('/v1/adapters'), 401);
  for (let i = 0; i < 20; i += 1) t.equal(await ask(i % 2 === 0 ? '/v1/adapters' : '/api/auth/status'), 429);
  const levels = server.log.filter(({ fields }) => fields['code'] === 'TOO_MANY_ATTEMPTS').map(({ level }) => level);
  t.strictSame(levels, ['info', ...new Array(19).fill('debug')]);
});

t.test('of addresses without end the oldest are forgotten', async (t) => {
  const tokens = new WrongTokens(() => 0);
  for (let i = 0; i < 21; i += 1) codeOf(tokens, 'first', 'wrong');
  t.equal(codeOf(tokens, 'first', 'wrong'), 'TOO_MANY_ATTEMPTS');
  for (let i = 0; i < 1000; i += 1) codeOf(tokens, `address ${i}`, 'wrong');
  t.equal(codeOf(tokens, 'first', 'wrong'), 'UNAUTHORIZED');
});

t.test('a server says 429 with Retry-After, on both of its doors, and goes on serving', async (t) => {
  const server = await startServer(t);
  const ask = (token: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}/v1/adapters`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const statuses = [];
  const status = async (token?: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}/api/auth/status`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  for (let i = 0; i < 100; i += 1) t.equal((await status()).status, 200, 'no token is no attempt');
  for (let i = 0; i < 10; i += 1) statuses.push((await status('wrong')).status);
  for (let i = 0; i < 11; i += 1) statuses.push((await ask('wrong')).status);
  t.strictSame(statuses, [...new Array(10).fill(200), ...new Array(10).fill(401), 429]);
  t.equal((await status('wrong')).status, 429, 'who asks whether it is right has tried it');
  const refused = await ask('wrong');
  t.match(await refused.json(), { code: 'TOO_MANY_ATTEMPTS', status: 429 });
  t.ok(Number(refused.headers.get('retry-after')) > 0);
  t.equal((await ask(server.token)).status, 200);
});
