import t from 'tap';
import { readFrame, writeFrame } from '../../../transports/ws/frames.ts';

t.test('the messages of a client are read as they are', async (t) => {
  const messages = [
    { type: 'subscribe', block: 'a' },
    { type: 'subscribe', block: 'a', stream: false },
    { type: 'subscribe', block: 'a', stream: true },
    { type: 'subscribe', block: 'a', stream: true, sinceSeq: 0 },
    { type: 'subscribe', block: '../\u0000 ü', stream: true, sinceSeq: 9_007_199_254_740_991 },
    { type: 'subscribe', fleet: true },
    { type: 'subscribe', events: true, since: 7 },
    { type: 'unsubscribe', block: '' },
    { type: 'unsubscribe', fleet: true },
    { type: 'unsubscribe', events: true },
    { type: 'ping' },
  ];
  for (const message of messages) t.strictSame(readFrame(JSON.stringify(message)), message);
});

t.test('what is wrong with a message is named with its field', async (t) => {
  const cases: [text: string, error: RegExp][] = [
    ['', /not valid JSON/],
    ['{', /not valid JSON \(line 1, column 2\)/],
    ['{"type":"ping"}{"type":"ping"}', /not valid JSON/],
    ['\ufeff{"type":"ping"}', /not valid JSON/],
    ['undefined', /not valid JSON/],
    ['null', /must be a JSON object/],
    ['1', /must be a JSON object/],
    ['"ping"', /must be a JSON object/],
    ['[]', /must be a JSON object/],
    ['[{"type":"ping"}]', /must be a JSON object/],
    ['['.repeat(8000) + ']'.repeat(8000), /must be a JSON object/],
    ['{}', /^type must be one of subscribe, unsubscribe, ping/],
    ['{"type":1}', /^type /],
    ['{"type":null}', /^type /],
    ['{"type":["ping"]}', /^type /],
    ['{"type":"Ping"}', /^type /],
    ['{"type":"refresh"}', /^type /],
    ['{"type":"__proto__"}', /^type /],
    ['{"type":"constructor"}', /^type /],
    ['{"type":"toString"}', /^type /],
    ['{"__proto__":{"type":"ping"}}', /^type /],
    ['{"type":"ping","__proto__":{}}', /^__proto__ is not a known field/],
    ['{"type":"ping","block":"a"}', /^block is not a known field/],
    ['{"type":"subscribe"}', /^block is required/],
    ['{"type":"subscribe","block":1}', /^block must be a string/],
    ['{"type":"subscribe","block":null}', /^block must be a string, not null/],
    ['{"type":"subscribe","block":["a"]}', /^block must be a string, not an array/],
    [`{"type":"subscribe","block":"${'a'.repeat(257)}"}`, /^block must not have more than 256/],
    ['{"type":"subscribe","block":"a","stream":"yes"}', /^stream must be a boolean/],
    ['{"type":"subscribe","block":"a","stream":true,"sinceSeq":"1"}', /^sinceSeq must be an integer/],
    ['{"type":"subscribe","block":"a","stream":true,"sinceSeq":1.5}', /^sinceSeq must be an integer/],
    ['{"type":"subscribe","block":"a","stream":true,"sinceSeq":-1}', /^sinceSeq /],
    ['{"type":"subscribe","block":"a","stream":true,"sinceSeq":1e999}', /^sinceSeq must be an integer/],
    ['{"type":"subscribe","block":"a","sinceSeq":1}', /^sinceSeq is allowed only with stream/],
    ['{"type":"subscribe","block":"a","constructor":{"prototype":1}}', /^constructor is not a known field/],
    ['{"type":"subscribe","fleet":true,"since":null}', /^since must be an integer, not null/],
    ['{"type":"subscribe","events":true,"block":"a"}', /^block is not a known field/],
    ['{"type":"unsubscribe","fleet":false}', /^fleet /],
    ['{"type":"ping","fleet":true}', /^fleet is not a known field/],
    ['{"type":"unsubscribe"}', /^block is required/],
    ['{"type":"unsubscribe","block":"a","stream":true}', /^stream is not a known field/],
  ];
  for (const [text, error] of cases) t.throws(() => readFrame(text), { code: 'INVALID_REQUEST', message: error }, text.slice(0, 80));
  t.equal(({} as Record<string, unknown>)['type'], undefined, 'no prototype was touched');
});

t.test('a frame of the server is one line of JSON', async (t) => {
  t.equal(writeFrame({ type: 'refresh', block: 'a' }), '{"type":"refresh","block":"a"}');
  const content = { type: 'stream', block: 'a', id: 'm1', seq: 3, event: 'content', text: '\n"\u2028' } as const;
  t.strictSame(JSON.parse(writeFrame(content)), content);
});
