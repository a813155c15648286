import { PassThrough } from 'node:stream';
import t from 'tap';
import { askKey, askValues, checkValues, fieldsOf, parseValues } from '../../../cli/input/credentials-input.ts';
import { CliError } from '../../../cli/terminal/exit-codes.ts';
import type { Adapter, SettingsSpec } from '../../../core/index.ts';

const adapter = (settings: SettingsSpec, authRequired = true): Adapter => ({ id: 'one', displayName: 'One', authRequired, settings }) as Adapter;

const HOSTED = adapter({
  apiKey: { secret: true },
  baseURL: { default: 'https://one.example' },
  api: { storedOnly: true, oneOf: ['new', 'old'] },
});
const CLOUD = adapter({ region: {}, accessKeyId: { secret: true }, secretAccessKey: { secret: true }, endpoint: { storedOnly: true } });
const LOCAL = adapter({ baseURL: { default: 'http://127.0.0.1:1' }, apiKey: { secret: true } }, false);

t.test('the fields that are asked for follow from the settings of the adapter', async (t) => {
  t.same(fieldsOf(HOSTED), ['apiKey']);
  t.same(fieldsOf(CLOUD), ['region', 'accessKeyId', 'secretAccessKey']);
  t.same(fieldsOf(LOCAL), ['baseURL', 'apiKey']);
  t.same(fieldsOf(HOSTED, 'api'), ['api']);
  t.throws(() => fieldsOf(HOSTED, 'nope'), new CliError('usage', 'one has no such field. Use one of apiKey, baseURL, api.'));
});

t.test('piped text is the one field that can be meant, or a JSON object', async (t) => {
  t.same(parseValues(HOSTED, ['apiKey'], ' key\n'), { apiKey: 'key' });
  t.same(parseValues(CLOUD, fieldsOf(CLOUD), '{"region": "eu-west-1", "accessKeyId": "A"}'), { region: 'eu-west-1', accessKeyId: 'A' });
  for (const [text, message] of [
    ['', /is empty/],
    ['  \n', /is empty/],
    ['key', /--field \(region, accessKeyId, secretAccessKey\)/],
    ['{"region": 7}', /region must be a string/],
    ['{"nope": "x"}', /has no such field/],
    ['{"region"', /not a JSON object of fields \(line 1, column 10\)/],
  ] as const)
    t.throws(() => parseValues(CLOUD, fieldsOf(CLOUD), text), { message }, text);
});

t.test('a value that could not be used is refused by field, not by value', async (t) => {
  t.same(checkValues(HOSTED, { apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1', api: 'old' }), { apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1', api: 'old' });
  for (const [field, value] of [
    ['apiKey', 'ca nary'],
    ['apiKey', 'canary\nx'],
    ['apiKey', 'canäry'],
    ['baseURL', 'ftp://canary'],
    ['baseURL', 'canary'],
    ['baseURL', 'http://canary\x1b'],
    ['api', 'canary'],
  ] as const) {
    t.throws(() => checkValues(HOSTED, { [field]: value }), { message: new RegExp(`^${field} (?!.*can)`) }, value);
  }
});

t.test('a new address makes it ask for the stored secrets again, and only for those', async (t) => {
  const ask = async (fields: readonly string[], typed: string) => {
    const input = new PassThrough();
    const output = new PassThrough();
    input.write(typed);
    const values = await askValues(LOCAL, fields, { apiKey: 'canary-0123456789-stored', baseURL: 'http://127.0.0.1:7' }, { input, output });
    return { values, shown: String(output.read()) };
  };
  const moved = await ask(['baseURL'], 'http://127.0.0.1:8\ranother-key\r');
  t.same(moved.values, { baseURL: 'http://127.0.0.1:8', apiKey: 'another-key' });
  t.match(moved.shown, /What is stored belongs to the old address\. Give apiKey again for the new one\./);
  t.notMatch(moved.shown, 'canary');
  t.same((await ask(['baseURL'], 'http://127.0.0.1:8\r\r')).values, { baseURL: 'http://127.0.0.1:8' }, 'what is not given is refused by the store');
  const same = await ask(['baseURL', 'apiKey'], 'http://127.0.0.1:7/\r\r');
  t.same(same.values, { baseURL: 'http://127.0.0.1:7/' });
  t.notMatch(same.shown, /again/);
});

t.test('asking shows what is kept, masks secrets, and asks again for what is not fit', async (t) => {
  const input = new PassThrough();
  const output = new PassThrough();
  input.write('eu-west-1\rca nary\rcanary-key\r\r');
  const values = await askValues(CLOUD, fieldsOf(CLOUD), { secretAccessKey: 'stored-secret-0123456789' }, { input, output });
  t.same(values, { region: 'eu-west-1', accessKeyId: 'canary-key' });
  const shown = String(output.read());
  t.match(shown, 'One region (Enter skips): ');
  t.match(shown, 'accessKeyId contains characters that are not allowed');
  t.match(shown, 'One secretAccessKey (hidden, Enter keeps ••••6789): ');
  t.notMatch(shown, 'canary');
});

t.test('what begins like JSON is never taken for a key', async (t) => {
  t.same(parseValues(HOSTED, ['apiKey'], '{"apiKey":"k1","baseURL":"http://127.0.0.1:9/v1"}'), { apiKey: 'k1', baseURL: 'http://127.0.0.1:9/v1' });
  for (const text of ['{', '["a"]', '"a"', '{"apiKey":']) t.throws(() => parseValues(HOSTED, ['apiKey'], text), { message: /not a JSON object/ }, text);
});

t.test('where there may be no key, a lone value must be named', async (t) => {
  t.throws(() => parseValues(LOCAL, fieldsOf(LOCAL), 'http://10.0.0.5:11434'), { message: /--field/ });
  t.same(parseValues(LOCAL, ['baseURL'], 'http://10.0.0.5:11434'), { baseURL: 'http://10.0.0.5:11434' });
});

t.test('the key of a connection is asked for; Enter takes its variable, or none for a server that may have none', async (t) => {
  const ask = async (typed: string, known: Parameters<typeof askKey>[1]) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.write(typed);
    const key = await askKey('one', known, { input, output }).catch((error: Error) => error.message);
    return [key, String(output.read()).split('\n')[0]?.trim()];
  };
  t.same(await ask('\r', { variable: 'ONE_KEY', mayLack: false }), [undefined, 'one apiKey (hidden, Enter takes $ONE_KEY):']);
  t.same(await ask('\r', { variable: 'ONE_KEY', mayLack: true }), [undefined, 'one apiKey (hidden, Enter takes $ONE_KEY):']);
  t.same(await ask('\r', { variable: null, mayLack: true }), [undefined, 'one apiKey (hidden, Enter if the server asks for none):']);
  t.same(await ask('\r', { variable: null, mayLack: false }), ['one needs a key; --no-key is for a server without one.', 'one apiKey (hidden):']);
  t.equal((await ask('canary-key\r', { variable: null, mayLack: true }))[0], 'canary-key');
});
