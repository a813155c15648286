import t from 'tap';
import { ForwardHandler } from '../../../adapters/shared/forward-handler.ts';
import type { Protocol } from '../../../adapters/shared/protocol.ts';
import type { Provider } from '../../../adapters/shared/provider.ts';
import { kindOfStatus } from '../../../adapters/shared/provider-errors.ts';
import { asObject } from '../../../adapters/shared/read.ts';
import type { BlockhouseError, ForwardCall, ReportedUsage } from '../../../core/index.ts';
import { adapterCall } from '../../support/adapter-call.ts';

const PROTOCOL: Protocol = {
  path: '/v1/words',
  url: () => new URL('http://127.0.0.1/v1/words'),
  requestHeaders: [],
  answerHeaders: /^x-kept$/,
  marks: ['end', 'used', 'broken', 'error'],
  ofModel: '"',
  members: ['count'],
  sumOfChoices: (all) => ({ outputTokens: [...all].reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0) }),
  readFrame: (data) => ({
    ofChoices: data.startsWith('used ') ? [{ choice: data[5], usage: { outputTokens: Number(data[7]) } }] : undefined,
    isEnd: data === 'end',
    mayEnd: data === 'may end',
    isCut: data === 'cu' || data.startsWith('no JSON: error'),
    usage: data === 'used' || data.includes('"count"') ? { outputTokens: 3 } : undefined,
    isUsageOnly: data === 'used',
    error: data === 'broken' || data.includes('"error"') ? { kind: 'failed', message: 'It broke.', ...ranIn(data) } : undefined,
  }),
  answerMembers: ['usage', 'error'],
  writtenMember: 'said',
  readUsage: ({ usage }) => (usage === undefined ? {} : { outputTokens: Number(asObject(usage)['out']) }),
  tellsFailure: ({ usage }) => usage === undefined,
  errorIn: ({ error }) => (error === undefined ? undefined : { kind: 'failed', message: 'It broke.', ...ranIn(JSON.stringify(error)) }),
};

/** An error may have what the model has written. */
function ranIn(text: string) {
  return text.includes('"ran"') && { mayHaveRun: true, writtenBytes: 70 };
}

const PROVIDER = {
  displayName: 'Words',
  settings: { apiKey: { secret: true } },
  readError: ({ status, text }) => ({ kind: kindOfStatus(status), message: text, ...ranIn(text) }),
} as Partial<Provider> as Provider;

const KEY = 'key-1a2b/3c4d-5e6f';
/** As a provider may write it in JSON. */
const ECHO = KEY.replaceAll('-', '\\u002d').replaceAll('/', '\\/');

function handler({ hidesUsage = false, writable = true } = {}) {
  const got: string[] = [];
  const usage: ReportedUsage[] = [];
  const heads: object[] = [];
  const unread: number[] = [];
  const sink: ForwardCall['sink'] = {
    head: (headers, isStream) => heads.push({ ...headers, isStream }),
    bytes: (bytes) => {
      got.push(bytes.toString());
      return writable;
    },
    onceWritable: (resume) => resume(),
    usage: (reported) => usage.push(reported),
    unread: (bytes) => unread.push(bytes),
  };
  const request = { path: '/v1/words', search: '', headers: {}, body: Buffer.alloc(0), hidesUsage };
  return {
    got,
    usage,
    heads,
    unread,
    reader: new ForwardHandler(PROVIDER, PROTOCOL, { ...adapterCall(), settings: { values: { apiKey: KEY }, sources: {} }, request, sink }),
  };
}

const STREAM = { 'content-type': 'text/event-stream', 'x-kept': '1', 'x-lost': '2' };
const feed = (reader: ForwardHandler, ...chunks: string[]): boolean[] => chunks.map((chunk) => reader.data(Buffer.from(chunk)));

t.test('only whole frames go out, with any line ends, and a reader that is full asks for a pause', async (t) => {
  const { reader, got, heads } = handler({ writable: false });
  reader.head(200, STREAM);
  t.same(feed(reader, 'data: a', '\n', '\ndata: b\r\n\r', '\ndata: c\r\rdata: d'), [true, true, false, false]);
  t.same(got, ['data: a\n\n', 'data: b\r\n\r\ndata: c\r\r']);
  t.same(heads, [{ 'x-kept': '1', isStream: true }]);
  feed(reader, '\n\ndata: end\n\n');
  await reader.end();
  t.equal(reader.complete, true);
  t.equal(got.join(''), 'data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\ndata: end\n\n');
});

t.test('a byte order mark before the first frame hides nothing of it', async (t) => {
  const { reader, got, usage } = handler();
  reader.head(200, STREAM);
  feed(reader, '\ufeffdata: used\n\n', 'data: end\n\n');
  await reader.end();
  t.equal(got.join(''), '\ufeffdata: used\n\ndata: end\n\n');
  t.same(usage, [{ outputTokens: 3 }]);
});

t.test('a frame of usage alone is counted, and kept from a client that has not asked for it', async (t) => {
  for (const hidesUsage of [true, false]) {
    const { reader, got, usage } = handler({ hidesUsage });
    reader.head(200, STREAM);
    feed(reader, 'data: a\n\ndata: used\n\ndata: end\n\n');
    await reader.end();
    t.equal(got.join(''), hidesUsage ? 'data: a\n\ndata: end\n\n' : 'data: a\n\ndata: used\n\ndata: end\n\n');
    t.same(usage, [{ outputTokens: 3 }]);
  }
});

t.test('what single choices have used is added up, each once', async (t) => {
  const { reader, usage } = handler();
  reader.head(200, STREAM);
  feed(reader, 'data: used 0 3\n\ndata: used 1 4\n\n', 'data: used 1 5\n\ndata: end\n\n');
  t.equal(usage.at(-1)?.outputTokens, 8);
});

t.test('a stream without its end is an error', async (t) => {
  const { reader, got } = handler();
  reader.head(200, STREAM);
  feed(reader, 'data: a\n\ndata: en');
  t.throws(() => reader.end(), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
  t.same(got, ['data: a\n\n']);
});

t.test('a stream that may end, but stops within a frame, is cut', async (t) => {
  for (const rest of ['data: cu', 'dat', 'event: end']) {
    const { reader, got } = handler();
    reader.head(200, STREAM);
    feed(reader, `data: may end\n\n${rest}`);
    t.throws(() => reader.end(), { code: 'UPSTREAM_MALFORMED' }, rest);
    t.same(got, ['data: may end\n\n'], 'the client gets whole frames only');
  }
  for (const rest of ['', '\n', ': a comment']) {
    const { reader } = handler();
    reader.head(200, STREAM);
    feed(reader, `data: may end\n\n${rest}`);
    t.doesNotThrow(() => reader.end(), rest);
  }
});

t.test('a last frame without an empty line is read and goes out', async (t) => {
  const { reader, got } = handler();
  reader.head(200, STREAM);
  feed(reader, 'data: a\n\ndata: end');
  await reader.end();
  t.same(got, ['data: a\n\n', 'data: end']);
});

t.test('an error in the first frame has not begun an answer; a later one has, and is not said twice', async (t) => {
  const early = handler();
  early.reader.head(200, STREAM);
  t.throws(() => feed(early.reader, 'data: broken\n\n'), { code: 'UPSTREAM_FAILED', mayHaveRun: false, providerFault: undefined });
  const late = handler();
  late.reader.head(200, STREAM);
  feed(late.reader, 'data: a\n\ndata: broken\n\n');
  t.equal(late.reader.complete, true);
  t.throws(() => late.reader.end(), { code: 'UPSTREAM_FAILED', mayHaveRun: true, providerFault: 'sent' });
  t.same(late.got, ['data: a\n\ndata: broken\n\n']);
});

t.test('a whole answer goes out at its end, if it is a whole JSON object', async (t) => {
  const { reader, got, heads, usage } = handler();
  reader.head(200, { 'content-type': 'application/json' });
  feed(reader, '{"usage": {"out"', ': 4.0}}');
  t.same(got, []);
  await reader.end();
  t.same([got, usage, heads], [['{"usage": {"out": 4.0}}'], [{ outputTokens: 4 }], [{ 'content-type': 'application/json', isStream: false }]]);
  for (const other of ['<html>', '', '[]', '{"usage": {"out": 4}', '{"text": "cut']) {
    const page = handler();
    page.reader.head(200, { 'content-type': 'text/html' });
    feed(page.reader, other);
    t.throws(() => page.reader.end(), { code: 'UPSTREAM_MALFORMED' }, other);
    t.same(page.got, []);
  }
});

t.test('a byte order mark before a whole answer hides nothing of it, and goes out with it', async (t) => {
  const { reader, got, usage } = handler();
  reader.head(200, { 'content-type': 'application/json' });
  feed(reader, '\ufeff{"usage": {"out": 4}}');
  await reader.end();
  t.same([got, usage], [['\ufeff{"usage": {"out": 4}}'], [{ outputTokens: 4 }]]);
});

t.test('an error with status 200 that reports what it used is counted, and not asked for again', async (t) => {
  const whole = (body: string) => {
    const { reader, usage, got } = handler();
    reader.head(200, { 'content-type': 'application/json' });
    feed(reader, body);
    return { fault: catchAny(() => reader.end()), usage, got };
  };
  t.match(whole('{"error":1,"usage":{"out":4}}'), { fault: { code: 'UPSTREAM_FAILED', mayHaveRun: true }, usage: [{ outputTokens: 4 }], got: [] });
  t.match(whole('{"error":1,"usage":{"out":0}}'), { fault: { mayHaveRun: false }, usage: [] });
  t.match(whole('{"error":1}'), { fault: { mayHaveRun: false }, usage: [] });
  const { reader, usage } = handler();
  reader.head(200, STREAM);
  const fault = catchAny(() => feed(reader, 'data: {"count":3,"error":1}\n\n'));
  t.match({ fault, usage }, { fault: { mayHaveRun: true }, usage: [{ outputTokens: 3 }] });
});

t.test('a frame that would take long to read ends the stream, and one that is only long passes', (t) => {
  const pass = (data: string) => {
    const { reader, usage, got } = handler();
    reader.head(200, STREAM);
    return { fault: catchAny(() => feed(reader, `data: ${data}\n\n`)), usage, got };
  };
  const many = JSON.stringify({ count: Array.from({ length: 200_001 }, () => 0) });
  t.match(pass(many).fault, { code: 'UPSTREAM_MALFORMED', message: /more than 200000 JSON values/, mayHaveRun: true });
  t.match(pass(`{"count":${'['.repeat(200_000)}${']'.repeat(200_000)}}`).fault, { code: 'UPSTREAM_MALFORMED', message: /nests deeper/ });
  t.match(pass(`{"count":1,\n${'data: \n'.repeat(10_001)}data: "a":1}`).fault, { code: 'UPSTREAM_MALFORMED', message: /more than 10000 lines/ });
  t.match(pass(JSON.stringify({ count: 'x'.repeat(1024 * 1024) })), { fault: undefined, usage: [{ outputTokens: 3 }] });
  t.end();
});

t.test('a proxy that gave up waiting may have left a model at work', async (t) => {
  for (const [status, mayHaveRun] of [
    [408, true],
    [504, true],
    [524, true],
    [500, false],
    [502, false],
    [503, false],
  ] as const) {
    const { reader } = handler();
    reader.head(status, { 'content-type': 'application/json' });
    feed(reader, '{"error":1}');
    t.match(
      catchAny(() => reader.end()),
      { mayHaveRun },
      `${status}`,
    );
  }
});

t.test("an error answer in the provider's own form comes with the failure, unless it is about our credentials", async (t) => {
  for (const [status, passes] of [
    [400, true],
    [429, true],
    [503, true],
    [401, false],
    [403, false],
    [302, false],
    [600, false],
    [999, false],
  ] as const) {
    const { reader } = handler();
    reader.head(status, { 'content-type': 'application/json', 'x-kept': '1' });
    feed(reader, '{"error":1}');
    try {
      await reader.end();
      t.fail('it must throw');
    } catch (error) {
      const fault = passes ? { status, headers: { 'x-kept': '1', 'content-type': 'application/json' }, body: Buffer.from('{"error":1}') } : undefined;
      t.match(error, { upstreamStatus: status }, `${status}`);
      t.same((error as BlockhouseError).providerFault, fault);
    }
  }
});

t.test('what a model has written is told where an error has it, whatever the status', async (t) => {
  for (const [status, type] of [
    [400, 'application/json'],
    [200, 'application/json'],
    [200, 'text/event-stream'],
  ] as const) {
    const { reader, unread } = handler();
    reader.head(status, { 'content-type': type });
    t.match(
      catchAny(() => {
        feed(reader, type === 'application/json' ? '{"error":"ran"}' : 'data: {"error":"ran"}\n\n');
        void reader.end();
      }),
      { mayHaveRun: true },
      `${status} ${type}`,
    );
    t.same(unread, [70]);
  }
});

/** What `work` throws; undefined if it throws nothing. */
function catchAny(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** What `work` throws to the client. */
function faultOf(work: () => void): Exclude<BlockhouseError['providerFault'], string | undefined> {
  try {
    work();
  } catch (error) {
    const { providerFault } = error as BlockhouseError;
    if (typeof providerFault === 'object') return providerFault;
  }
  throw new Error('It must throw an answer of the provider.');
}

t.test('an error answer comes without the key, however the provider has written it, in its body and its headers', async (t) => {
  const { reader } = handler();
  reader.head(400, { 'content-type': `application/json; echo=${KEY}`, 'x-kept': `Bearer ${encodeURIComponent(KEY)}` });
  feed(reader, `{"error": {"message": "no ${ECHO.slice(0, 9)}`, `${ECHO.slice(9)} here", "${ECHO}": 1.0}}`);
  const { headers, body } = faultOf(() => reader.end());
  t.same(headers, { 'content-type': 'application/json; echo=[redacted]', 'x-kept': 'Bearer [redacted]' });
  t.equal(body.toString(), '{"error": {"message": "no [redacted] here", "[redacted]": 1.0}}');
});

t.test('headers of a right answer have no key, either', async (t) => {
  const coded = (encoding: 'base64' | 'hex') => Buffer.from(KEY).toString(encoding);
  for (const echo of [KEY, encodeURIComponent(KEY), coded('base64'), coded('hex'), KEY.toUpperCase(), KEY.slice(0, 14), `${KEY.slice(0, 8)} ${KEY.slice(8)}`]) {
    for (const type of ['text/event-stream', 'application/json']) {
      const { reader, heads } = handler();
      reader.head(200, { 'content-type': type, 'x-kept': `id ${echo}` });
      feed(reader, type === 'application/json' ? '{"usage": {}}' : 'data: end\n\n');
      await reader.end();
      t.match(heads, [{ 'x-kept': 'id [redacted]' }]);
    }
  }
});

t.test('a whole answer that says of itself that it failed has no key, and a right one is as it came', async (t) => {
  const bodies: [body: string, sent: string][] = [
    [`{"code": 401, "msg": "no ${ECHO}", "n": 1.0}`, '{"code": 401, "msg": "no [redacted]", "n": 1.0}'],
    ['{"code":  401, "msg": "no"}', '{"code":  401, "msg": "no"}'],
    [`{"usage": {"out": 1}, "said": "${ECHO}"}`, `{"usage": {"out": 1}, "said": "${ECHO}"}`],
  ];
  for (const [body, sent] of bodies) {
    const { reader, got } = handler();
    reader.head(200, { 'content-type': 'application/json' });
    feed(reader, body);
    await reader.end();
    t.equal(got.join(''), sent);
  }
});

t.test('a frame with an error goes out without the key, and every other frame as it came', async (t) => {
  const error = `event: error\r\n: ${KEY}\r\ndata: {"error":\r\ndata: "no ${ECHO}", "n": 1.0}`;
  const clean = 'event: error\r\n: [redacted]\r\ndata: {"error":\r\ndata: "no [redacted]", "n": 1.0}';
  for (const end of ['\r\n\r\n', '']) {
    const { reader, got } = handler();
    reader.head(200, STREAM);
    feed(reader, 'data: a\n\n', `data: "end" ${KEY}\n\n`, `${error}${end}`);
    t.throws(() => reader.end(), { code: 'UPSTREAM_FAILED', providerFault: 'sent' });
    t.equal(got.join(''), `data: a\n\ndata: "end" ${KEY}\n\n${clean}${end}`, 'text of the model is not searched');
  }
  const { reader, got } = handler();
  reader.head(200, STREAM);
  feed(reader, 'data: a\n\n', `data: {"error" is no JSON: ${ECHO}\n\n`);
  t.throws(() => reader.end(), { code: 'UPSTREAM_FAILED' });
  t.equal(got.join(''), 'data: a\n\ndata: {"error" is no JSON: [redacted]\n\n');
});

t.test('a frame that is none, or none of the protocol, goes out without the key where it speaks of an error', async (t) => {
  for (const [frame, clean] of [
    [`Internal error: no ${ECHO}\nin line 2`, 'Internal error: no [redacted]\nin line 2'],
    [`data: no JSON: error with ${KEY}`, 'data: no JSON: error with [redacted]'],
    ['data: no JSON: error', 'data: no JSON: error'],
  ]) {
    for (const end of ['\n\n', '\r\n\r\n']) {
      const { reader, got } = handler();
      reader.head(200, STREAM);
      feed(reader, 'data: a\n\n', `${frame}${end}`, 'data: end\n\n');
      await reader.end();
      t.equal(got.join(''), `data: a\n\n${clean}${end}data: end\n\n`);
    }
  }
});

t.test('comments, and a frame that has nothing of an answer, go out without the key; what a model has written goes out as it came', async (t) => {
  const own = `data: {"said": "${KEY}"}`;
  for (const [frame, clean] of [
    [`: tried ${KEY}`, ': tried [redacted]'],
    [`data: no answer with ${KEY}`, 'data: no answer with [redacted]'],
    [`data: [1, ${KEY.replaceAll('-', '')}]`, `data: [1, ${KEY.replaceAll('-', '')}]`],
    [`: tried ${KEY}\n${own}`, `: tried [redacted]\n${own}`],
    [own, own],
    [`event: said\ndata: ${KEY}`, `event: said\ndata: ${KEY}`],
  ] as const) {
    for (const before of ['', `${own}\n\n`]) {
      const { reader, got } = handler();
      reader.head(200, STREAM);
      feed(reader, `${before}${frame}\n\n${own}\n\n`, 'data: end\n\n');
      await reader.end();
      t.equal(got.join(''), `${before}${clean}\n\n${own}\n\ndata: end\n\n`);
    }
  }
  const { reader, got } = handler();
  reader.head(200, STREAM);
  feed(reader, `: tried ${KEY}\n\n`, `${own}\n\n`, 'data: end\n\n');
  await reader.end();
  t.equal(got.join(''), `: tried [redacted]\n\n${own}\n\ndata: end\n\n`, 'a comment that waited for the first frame');
});

t.test('the comments of a stream are searched up to a limit, so that very many cost no more', async (t) => {
  const { reader, got } = handler();
  reader.head(200, STREAM);
  const comments = `: ${'x'.repeat(60_000)}\n\n`;
  feed(reader, 'data: "a"\n\n', ...Array<string>(5).fill(comments), `: ${KEY}\n\n`, 'data: end\n\n');
  await reader.end();
  t.match(got.join(''), KEY);
});

t.test('a frame is passed on wherever it is cut, and a border that comes in two pieces ends it', async (t) => {
  const text = 'data: a\n\ndata: b\r\ndata: b\r\n\r\n: c\r\rdata: end\n\n';
  for (let first = 1; first < text.length; first += 1) {
    for (let second = first; second < text.length; second += 1) {
      const { reader, got } = handler();
      reader.head(200, STREAM);
      feed(reader, text.slice(0, first), text.slice(first, second), text.slice(second));
      await reader.end();
      if (got.join('') !== text) t.equal(got.join(''), text, `cut at ${first} and ${second}`);
    }
  }
});

t.test('a frame that never ends is refused at its limit, also if it has a line end in each piece', async (t) => {
  const { reader, got } = handler();
  reader.head(200, STREAM);
  const line = Buffer.from(`data: ${'x'.repeat(1000)}\n`);
  t.throws(
    () => {
      for (;;) reader.data(line);
    },
    { code: 'UPSTREAM_MALFORMED', message: /a frame of more than 33554432 bytes/ },
  );
  t.same(got, []);
});

t.test('a whole answer of too many values, or that nests too deep, is refused before it is parsed', async (t) => {
  for (const [usage, message] of [
    [`[${'[],'.repeat(2_000_000)}[]]`, /more than 2000000 JSON values/],
    ['['.repeat(200_000) + ']'.repeat(200_000), /deeper than 1000 levels/],
  ] as const) {
    const { reader, unread } = handler();
    reader.head(200, { 'content-type': 'application/json' });
    feed(reader, `{"usage":${usage}}`);
    await t.rejects(async () => reader.end(), { code: 'UPSTREAM_MALFORMED', message });
    t.same(unread.length, 1, 'it is paid for by its size');
  }
});

t.test('of a long whole answer the usage is read in turns, and it goes out as it came', async (t) => {
  const { reader, got, usage } = handler();
  const answer = JSON.stringify({ usage: { out: 7, more: 'x'.repeat(300_000) }, said: 'hi' });
  reader.head(200, { 'content-type': 'application/json' });
  feed(reader, answer);
  const ended = reader.end();
  t.same(got, [], 'nothing at once');
  await ended;
  t.same(usage, [{ outputTokens: 7 }]);
  t.same(got, [answer]);
});

t.test('a frame with a member that matters is read whatever the blanks in it, and not for a null', async (t) => {
  for (const [frame, isRead] of [
    ['{"count":1}', true],
    ['{"count" : 1}', true],
    ['{"count"\t:\t\t1}', true],
    ['{"count"\ndata: : 1}', true],
    ['{"count":\r\ndata:null1', true],
    ['{"count":null,"a":{"count":{}}}', true],
    ['{"count"', true],
    ['{"count":null}', false],
    ['{"count" :  null}', false],
    ['{"count":null,"b":{"count": null}}', false],
    ['{"text":"\\"count\\":1"}', false],
    ['{"counts":1}', false],
  ] as const) {
    const { reader, usage } = handler();
    reader.head(200, { 'content-type': 'text/event-stream' });
    reader.data(Buffer.from(`data: ${frame}\n\n`));
    t.equal(usage.length, isRead ? 1 : 0, JSON.stringify(frame));
  }
});

t.test('a header goes out without characters that no header has', async (t) => {
  const { reader, heads } = handler();
  reader.head(200, { 'content-type': 'application/json\x85', 'x-kept': 'a\x9b2Jb\x7f\u00e9\tc' });
  feed(reader, '{"usage":{"out":1}}');
  await reader.end();
  t.same(heads, [{ 'content-type': 'application/json', 'x-kept': 'a2Jb\tc', isStream: false }]);
});

t.test('a frame with an error that is too long to be searched is replaced by an error of ours', async (t) => {
  for (const before of [[], ['data: a\n\n']]) {
    const { reader, got } = handler();
    reader.head(200, STREAM);
    const frame = `data: {"error": "${KEY} ${'\\'.repeat(32 * 1024 * 1024 - 1000)}"}\n\n`;
    t.throws(
      () => {
        feed(reader, ...before, frame);
        void reader.end();
      },
      { code: 'UPSTREAM_FAILED', providerFault: undefined },
    );
    t.same(got, before);
  }
});

t.test('frames with an error go out while they are short together, and a stream of them costs nothing more', async (t) => {
  const { reader, got } = handler();
  reader.head(200, STREAM);
  const frame = `data: {"error": "${'a'.repeat(30_000)}"}\n\n`;
  feed(reader, 'data: a\n\n', ...new Array<string>(5).fill(frame));
  t.same(got, ['data: a\n\n', frame, frame]);
  t.throws(() => reader.end(), { code: 'UPSTREAM_FAILED', providerFault: 'sent' });
});
