import t from 'tap';
import { redact, redactJson } from '../../../core/base/redact.ts';

t.test('shapes of keys are taken out, whoever wrote them', async (t) => {
  const table: [string, string][] = [
    ['Incorrect API key provided: sk-proj-abcdefgh12345678.', 'Incorrect API key provided: [redacted].'],
    ['sk-ant-api03-AbC_dEf-123456', '[redacted]'],
    ['an echoed part: sk-abcd****************wxyz!', 'an echoed part: [redacted]!'],
    ['AIzaSyA1234567890abcdefghijk_-', '[redacted]'],
    ['id AKIAIOSFODNN7EXAMPLE and ASIAIOSFODNN7EXAMPLE', 'id [redacted] and [redacted]'],
    ['"authorization":"Bearer abc.def-123456"', '"authorization":"[redacted]"'],
    ['bearer   token1234567', '[redacted]'],
    ['GET /v1beta/models?alt=sse&key=abc123 failed', 'GET /v1beta/models?alt=sse&key=[redacted] failed'],
    ['?X-Amz-Signature=ff00&X-Amz-Date=1', '?X-Amz-Signature=[redacted]&X-Amz-Date=1'],
    ['?a=1&X-Amz-Security-Token=IQoJ%2F%2F', '?a=1&X-Amz-Security-Token=[redacted]'],
  ];
  for (const [text, clean] of table) t.equal(redact(text, []), clean);
});

t.test('secrets in use are taken out wherever they stand', async (t) => {
  t.equal(redact('key hunter2-hunter2 and hunter2-hunter2', ['hunter2-hunter2']), 'key [redacted] and [redacted]');
  t.equal(redact('a.b*c$&', ['a.b*c$&']), '[redacted]', 'also with characters that mean something in a pattern');
  t.equal(redact('wwww-one-two', ['wwww-one', 'wwww-one-two']), '[redacted]', 'one that begins like another is taken out whole');
});

t.test('everything else stays as it is', async (t) => {
  const texts = [
    'model "gpt-4o-mini" not found',
    'The task-specific-endpoint is asking-for-more.',
    'Bearer authentication is required',
    'max_tokens: 200000 > 64000, which is the maximum',
    'messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A09q90qw90lq917835lq9',
    '{"error":"monkey=banana"}',
    '',
  ];
  for (const text of texts) t.equal(redact(text, ['', 'abc']), text);
});

const KEY = 'kk-1a/2b+3c-4d5e-6f7g';
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const each = (text: string, change: (char: string) => string): string => [...text].map(change).join('');

t.test('a secret is taken out in every spelling that a provider may echo it in', async (t) => {
  const spellings: [what: string, text: string][] = [
    ['one escape of JSON', KEY.replace('-', '\\u002d')],
    ['all escaped, in capitals', each(KEY, (char) => escaped(char).toUpperCase().replace('\\U', '\\u'))],
    ['a slash', KEY.replace('/', '\\/')],
    ['JSON within JSON', JSON.stringify(JSON.stringify({ echo: KEY.replace('-', '\\u002d') }))],
    ['an address', encodeURIComponent(KEY)],
    ['an address, every character', each(KEY, (char) => `%${char.charCodeAt(0).toString(16)}`)],
    ['an address within an address', encodeURIComponent(encodeURIComponent(KEY))],
    ['HTML', each(KEY, (char) => `&#${char.charCodeAt(0)};`)],
    ['HTML, hexadecimal', KEY.replace('-', '&#x2D;')],
    ['HTML with zeros', each(KEY, (char) => `&#x${char.charCodeAt(0).toString(16).padStart(6, '0')};`)],
    ['HTML, decimal with zeros', each(KEY, (char) => `&#${String(char.charCodeAt(0)).padStart(7, '0')};`)],
    ['HTML by names', KEY.replaceAll('+', '&plus;').replaceAll('/', '&sol;')],
    ['HTML in HTML', KEY.replaceAll('-', '&amp;#45;')],
    ['an escape of two digits', each(KEY, (char) => `\\x${char.charCodeAt(0).toString(16)}`)],
    ['an escape in braces', each(KEY, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`)],
    ['an old escape of addresses', each(KEY, (char) => `%u00${char.charCodeAt(0).toString(16)}`)],
    ['hexadecimal', Buffer.from(KEY).toString('hex')],
    ['hexadecimal in capitals', Buffer.from(KEY).toString('hex').toUpperCase()],
    ['small letters', KEY.toLowerCase()],
    ['capitals', KEY.toUpperCase()],
    ['an escaped line break', `${KEY.slice(0, 9)}\\n${KEY.slice(9)}`],
    ['escaped line breaks twice over', KEY.replaceAll('-', '-\\\\r\\\\n\\\\t')],
    ['a continued line', `${KEY.slice(0, 9)}\\\n${KEY.slice(9)}`],
    ['broken over lines', `${KEY.slice(0, 9)}\n  ${KEY.slice(9)}`],
    ['letters of full width', each(KEY, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0))],
    ['with characters that have no width', each(KEY, (char) => `${char}\u200b`)],
    ['with selectors of variants', each(KEY, (char) => `${char}\ufe0f\u034f\u180e`)],
    ['base64', Buffer.from(KEY).toString('base64')],
    ['base64 behind one character', Buffer.from(`:${KEY}`).toString('base64')],
    ['base64 of a user and a password', Buffer.from(`me:${KEY}`).toString('base64')],
    ['base64 for addresses', Buffer.from(`u:${KEY}?`).toString('base64url')],
    ['base64 of base64', Buffer.from(Buffer.from(KEY).toString('base64')).toString('base64')],
  ];
  for (const [what, text] of spellings) {
    const clean = redact(`refused (${text})`, [KEY]);
    t.match(clean, '[redacted]', what);
    const left = clean.replace(/^refused \(|\)$/g, '').replace(/(?:\\+(?:u200b)?|["{}:]|echo)/g, '');
    t.ok(left.length < 18, `${what}: ${clean}`);
  }
  t.equal(redact(`bad key ${KEY} and more`, [KEY]), 'bad key [redacted] and more', 'the spaces around it stay');
  t.equal(redact('a\\u002db%41&#66;', [KEY]), 'a\\u002db%41&#66;', 'escapes of anything else stay');
  t.equal(redact('50%25 of %6bk', ['50%25']), '[redacted] of %6bk', 'a secret that looks like an escape');
});

t.test('the beginning of a secret at the end of a text is taken out, because the text was cut there', async (t) => {
  for (let length = 8; length < KEY.length; length += 1) t.equal(redact(`bad key ${KEY.slice(0, length)}`, [KEY]), 'bad key [redacted]', `${length}`);
  t.equal(redact(`bad key ${KEY.slice(0, 10)}\\u00`, [KEY]), 'bad key [redacted]', 'and a cut escape');
  t.equal(redact(`bad key ${encodeURIComponent(KEY).slice(0, 20)}`, [KEY]), 'bad key [redacted]');
  t.equal(redact('short: abcd', ['abcd1234']), 'short: [redacted]');
  t.equal(redact(`${KEY.slice(0, 10)} and more`, [KEY]), `${KEY.slice(0, 10)} and more`, 'not in the middle, where it is a text of its own');
});

t.test('JSON stays JSON: what has no secret stays byte for byte, and the rest is written anew', async (t) => {
  const json = `{ "message" : "no ${each(KEY, escaped)}\\n\\u00e9", "n": 1.50e3, "a": "\\u0041", "${KEY}": [12345678901234567890, "x\\"${KEY}\\\\"] }`;
  const clean = redactJson(json, [KEY, '12345678901234567890']);
  t.equal(clean, '{ "message" : "no [redacted]\\né", "n": 1.50e3, "a": "\\u0041", "[redacted]": ["[redacted]", "x\\"[redacted]\\\\"] }');
  t.strictSame(JSON.parse(clean), { message: 'no [redacted]\né', n: 1500, a: 'A', '[redacted]': ['[redacted]', 'x"[redacted]\\'] });
  t.equal(redactJson(json, []), json);
  const node = '{"a":"line\\node-key-xx"}';
  t.equal(redactJson(node, ['node-key-xx']), node, 'a line break before "ode" is no "n"');
  t.equal(redactJson(`{"a":"${KEY}","b":"not closed ${KEY}`, [KEY]), '{"a":"[redacted]","b":"[redacted]"', 'text that is no JSON after all');
});

t.test('half of a secret is taken out wherever it stands, with what follows of it', async (t) => {
  for (let length = 12; length < KEY.length; length += 1) {
    t.equal(redact(`no ${KEY.slice(0, length)}... here`, [KEY]), 'no [redacted]... here', `its first ${length} characters`);
    t.equal(redact(`no ...${KEY.slice(-length)} here`, [KEY]), 'no ...[redacted] here', `its last ${length} characters`);
  }
  const long = Array.from({ length: 40 }, (_none, index) => (index * 7919).toString(36)).join('');
  t.equal(redact(`no ${long.slice(0, 24)}! here`, [long]), 'no [redacted]! here', '24 characters of a long one suffice');
  t.equal(redact(`no ${long.slice(0, 23)}! here`, [long]), `no ${long.slice(0, 23)}! here`);
  t.equal(redact(`no ${KEY.slice(0, 11)}! here`, [KEY]), `no ${KEY.slice(0, 11)}! here`);
  t.equal(redact('a Word', ['word']), 'a Word', 'a short one counts only letter by letter');
  t.equal(redact(`\u0130 ${KEY.toUpperCase()}`, [KEY]), '\u0130 [redacted]', 'a letter that is two in lower case moves nothing');
});

const MOST_RUNS = 7;

/** Milliseconds of processor time that the cheapest of some runs takes: what else the machine does is not in it. No more are made once one takes no more than `enoughMs`. */
function fastest(act: () => void, enoughMs = 0): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < MOST_RUNS && best > enoughMs; run += 1) {
    const begin = process.cpuUsage();
    act();
    best = Math.min(best, process.cpuUsage(begin).user / 1000);
  }
  return best;
}

t.test('the work grows as the text does, whatever is repeated in it', async (t) => {
  const secrets = [KEY, 'abcd1234', 'k9'.repeat(20)];
  const repeated = [
    '\\',
    '\\"',
    '"',
    '"\\',
    '\\u',
    '\\u002',
    '%',
    '%u',
    '&#x',
    '&#0',
    '&amp;',
    ' ',
    '\u200b',
    '-',
    '1e',
    'Bearer ',
    'Bearer  x',
    '?key=',
    KEY.slice(0, 15),
    KEY,
  ];
  for (const piece of repeated) {
    const text = (characters: number): string => `${piece.repeat(Math.ceil(characters / piece.length))}x`;
    for (const [how, act] of [
      ['text', (long: string) => redact(long, secrets)],
      ['JSON', (long: string) => redactJson(long, secrets)],
      ['a string of JSON', (long: string) => redactJson(JSON.stringify(long), secrets)],
    ] as const) {
      const [short, long] = [text(8000), text(64_000)];
      const shortMs = Math.max(
        fastest(() => act(short), 0.5),
        0.5,
      );
      const ratio = fastest(() => act(long), shortMs * 31) / shortMs;
      t.ok(ratio < 32, `${how} of ${JSON.stringify(piece)}: eight times the text takes ${ratio.toFixed(1)} times as long`);
    }
  }
});
