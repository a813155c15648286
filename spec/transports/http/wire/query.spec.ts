import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { channelOf, etagOf, ifMatchOf, queryChoice, queryNumber, querySeconds, queryValue, wantsEvents } from '../../../../transports/http/wire/query.ts';

const at = (url: string): IncomingMessage => ({ url, headers: {} }) as IncomingMessage;
const withHeaders = (headers: Record<string, string>): IncomingMessage => ({ url: '/', headers }) as unknown as IncomingMessage;

function verdict(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

t.test('a query parameter is its decoded value, and absent where it is absent', async (t) => {
  const cases: [url: string, value: string | undefined][] = [
    ['/x', undefined],
    ['/x?', undefined],
    ['/x?other=1', undefined],
    ['/x?Name=a', undefined],
    ['/x?name', ''],
    ['/x?name=', ''],
    ['/x?name=a', 'a'],
    ['/x?other=1&name=a+b%C3%A9', 'a bé'],
    ['/x?name=a?b', 'a?b'],
    ['/x?name=%zz', '%zz'],
    ['/x?name=__proto__', '__proto__'],
  ];
  for (const [url, value] of cases) t.equal(queryValue(at(url), 'name'), value, url);
  t.throws(() => queryValue(at('/x?name=a&name=a'), 'name'), { code: 'INVALID_REQUEST', message: /name appears more than once in the query/ });
});

t.test('a number is written in digits, and anything else is refused as what it is', async (t) => {
  const number = (url: string): unknown => queryNumber(at(url), 'limit');
  t.equal(number('/x'), undefined);
  for (const [value, found] of [
    ['1', 1],
    ['500', 500],
    ['007', 7],
    ['0', 0],
  ] as const)
    t.equal(number(`/x?limit=${value}`), found, value);
  for (const value of ['', 'abc', '1.5', '-1', '1e1', '0x10', ' 1', 'Infinity', '9'.repeat(16)])
    t.throws(() => number(`/x?limit=${value}`), { code: 'INVALID_REQUEST', message: 'limit must be a whole number, written in digits.' }, value);
  t.throws(() => number('/x?limit=1&limit=2'), { message: /limit appears more than once in the query/ });
});

t.test('a choice is one of the words, the first where it is absent, and nothing else', async (t) => {
  const choice = (url: string): unknown => verdict(() => queryChoice(at(url), 'hard', ['false', 'true']));
  t.equal(choice('/x'), 'false');
  t.equal(choice('/x?hard=false'), 'false');
  t.equal(choice('/x?hard=true'), 'true');
  for (const value of ['', '1', 'TRUE', 'yes', 'true ', 'constructor', 'true&hard=false']) t.equal(choice(`/x?hard=${value}`), 'INVALID_REQUEST', value);
  t.throws(() => queryChoice(at('/x?hard=1'), 'hard', ['false', 'true']), { message: /^hard must be one of false, true/ });
});

t.test('a message comes from the page, unless its header says otherwise', async (t) => {
  t.equal(channelOf(withHeaders({})), 'web');
  for (const channel of ['web', 'cli', 'api'] as const) t.equal(channelOf(withHeaders({ 'x-blockhouse-channel': channel })), channel);
  for (const channel of ['', 'CLI', 'telegram', 'cli, api', '__proto__'])
    t.throws(() => channelOf(withHeaders({ 'x-blockhouse-channel': channel })), { code: 'INVALID_REQUEST', message: /web, cli, api/ }, channel);
});

t.test('If-Match names one revision, or any', async (t) => {
  const cases: [header: string, revision: unknown][] = [
    ['*', undefined],
    ['"3"', 3],
    ['3', 3],
    [' "3" ', 3],
    ['"0"', 0],
    ['999999999999999', 999_999_999_999_999],
    ['W/"3"', 'INVALID_REQUEST'],
    ['"3", "4"', 'INVALID_REQUEST'],
    ['3,4', 'INVALID_REQUEST'],
    ['', 'INVALID_REQUEST'],
    ['"3', 'INVALID_REQUEST'],
    ['-1', 'INVALID_REQUEST'],
    ['1.5', 'INVALID_REQUEST'],
    ['1e3', 'INVALID_REQUEST'],
    ['"abc"', 'INVALID_REQUEST'],
    ['9999999999999999', 'INVALID_REQUEST'],
  ];
  t.equal(ifMatchOf(withHeaders({})), undefined);
  for (const [header, revision] of cases)
    t.equal(
      verdict(() => ifMatchOf(withHeaders({ 'if-match': header }))),
      revision,
      JSON.stringify(header),
    );
  t.throws(() => ifMatchOf(withHeaders({ 'if-match': 'W/"3"' })), { message: /^If-Match must be \* or one revision .* such as "3"/ });
});

t.test('the ETag of a configuration is what If-Match takes', async (t) => {
  t.strictSame(etagOf({ rev: 12 }), { etag: '"12"' });
  t.equal(ifMatchOf(withHeaders({ 'if-match': etagOf({ rev: 12 }).etag })), 12);
});

t.test('seconds are a whole number within the limit, and a refusal names both', async (t) => {
  const seconds = (url: string): unknown => querySeconds(at(url), 'wait', 600);
  t.equal(seconds('/x'), undefined);
  for (const [value, found] of [
    ['0', 0],
    ['30', 30],
    ['0600', 600],
  ] as const)
    t.equal(seconds(`/x?wait=${value}`), found, value);
  for (const value of ['', 'abc', '601', '-1', '1.5', '1e2', '%2030', '9'.repeat(400)])
    t.throws(() => seconds(`/x?wait=${value}`), { code: 'INVALID_REQUEST', message: 'wait must be a whole number of seconds from 0 to 600.' }, value);
});

t.test('a client asks for events with its Accept header, beside other types too, unless it prefers JSON', async (t) => {
  for (const accept of [
    'text/event-stream',
    'Text/Event-Stream',
    'application/json, text/event-stream',
    'text/event-stream;q=0.9, */*',
    'text/event-stream ; charset=utf-8 ; Q=0.2',
    'application/json;q=0.5, text/event-stream;q=0.5',
    'text/event-stream;q=0, text/event-stream',
    'text/event-stream;q=high',
  ])
    t.ok(wantsEvents(withHeaders({ accept })), accept);
  for (const accept of [
    '',
    '*/*',
    'text/*',
    'application/json',
    'text/event-stream-2',
    'x-text/event-stream',
    'text/event-stream;q=0',
    'application/json, text/event-stream;q=0.000',
    'text/event-stream;q=0.1, application/json',
    'application/json;q=0.5, text/event-stream; q=0.4',
  ])
    t.notOk(wantsEvents(withHeaders({ accept })), accept);
  t.notOk(wantsEvents(at('/')));
});
