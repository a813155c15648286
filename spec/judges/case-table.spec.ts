// The forty cases that other gateways fail, and where each must be tested: the protocols of clients that it concerns, and whether each provider makes a
// difference. A test belongs to a case by its title: `case 6: …` or `cases 3 and 4: …`. A title with `${at}` or `${wire.name}` is there for each provider.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../cli/run.ts';
import { CLIENTS, type Client } from '../support/dialect-clients.ts';

type Id = Client['id'];
const ALL: readonly Id[] = CLIENTS.map(({ id }) => id);
const EACH = 'each';
const BEFORE = 'decided before a provider is chosen';

interface Case {
  readonly about: string;
  readonly clients: readonly Id[];
  /** Why the other protocols are not concerned. */
  readonly others?: string;
  /** Before each provider, or why one is enough. */
  readonly providers: string;
}

const each = (about: string, clients: readonly Id[] = ALL, others?: string): Case => ({
  about,
  clients,
  ...(others !== undefined && { others }),
  providers: EACH,
});
const once = (about: string, clients: readonly Id[], others?: string, providers = BEFORE): Case => ({ ...each(about, clients, others), providers });

const CASES: Readonly<Record<number, Case>> = {
  1: each('the first chunk has the role', ['chat'], 'their first event is another one'),
  2: each('parallel calls come apart'),
  3: each('id and name come once'),
  4: each('an answer that calls says so'),
  5: each('usage only if it is asked for', ['chat'], 'they always have it'),
  6: each('a provider that reports no usage'),
  7: once('empty contents come back', ['chat', 'responses'], 'its contents are never null'),
  8: each('system texts anywhere'),
  9: once('either name of the limit', ['chat'], 'they have one name'),
  10: each('a schema for the answer'),
  11: once('n', ['chat'], 'they have no such field'),
  12: each('images'),
  13: each('images in results'),
  14: each('documents'),
  15: each('a stream that is cut'),
  16: each('an error before the first byte'),
  17: each('a client that leaves'),
  18: each('silence'),
  19: each('events are numbered', ['responses'], 'their events have no numbers'),
  20: each('items are added and done', ['responses'], 'they have no items'),
  21: each('the limit of tokens'),
  22: once('custom tools', ['responses'], 'their tools take JSON', 'for a provider it is a function with one text'),
  23: once('namespaces', ['responses'], 'their tools have none', 'for a provider it is a function like others'),
  24: once('additional tools', ['responses'], 'they have no such items'),
  25: once('tools of another provider', ['responses'], 'case 33 has those of Messages; Chat has none'),
  26: each('fields that are empty or left out', ['responses'], 'case 33 has those of Messages'),
  27: each('reasoning comes back', ['responses'], 'case 30 has it in Messages; Chat has no place for it'),
  28: once('stored conversations', ['responses'], 'they store none'),
  29: each('the order of blocks', ['messages'], 'they have no blocks'),
  30: each('signatures come back', ['messages'], 'case 27 has it in Responses; Chat has no place for it'),
  31: each('system messages in the middle', ['messages'], 'case 8 has them'),
  32: once('threads', ['messages'], 'they have none'),
  33: each('betas and unknown fields', ['messages'], 'they have no betas'),
  34: once('marks for caching', ['messages'], 'they have none', 'only Anthropic and Bedrock take them'),
  35: each('counts of tokens', ['messages'], 'they have no such endpoint'),
  36: each('ids of calls'),
  37: once('bytes in the native lane', ALL, undefined, 'each protocol has one provider that speaks it'),
  38: once('names of models', ALL),
  39: each('keys'),
  40: each('embeddings', [], 'they have an endpoint of their own'),
};

interface NamedTest {
  readonly cases: readonly number[];
  readonly clients: readonly Id[];
  readonly isForEach: boolean;
}

/** The protocols that a spec is about by its place. */
const PLACES: readonly (readonly [RegExp, Id])[] = [
  [/dialects\/openai-chat\//, 'chat'],
  [/dialects\/openai-responses\/|judges\/responses/, 'responses'],
  [/dialects\/anthropic\/|judges\/messages/, 'messages'],
];
const TITLE = /\.test\(\s*(['"`])cases? ([\d, and]+): (.*)/g;
/** The handlers' other specs number the cases of the page. */
const PATHS = ['spec/judges', 'spec/transports/http/dialects', 'spec/faults', 'spec/transports/http/handlers/compatible-embeddings.spec.ts'];

function filesOf(path: string): string[] {
  if (path.endsWith('.ts')) return [path];
  const files = readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.spec.ts')).map((file) => join(path, file));
}

function testsIn(file: string): NamedTest[] {
  return [...readFileSync(join(ROOT, file), 'utf8').matchAll(TITLE)].map(([, , numbers = '', title = '']) => testOf(file, numbers, title));
}

function testOf(file: string, numbers: string, title: string): NamedTest {
  const named = ALL.filter((id) => title.includes(`(${id} before`));
  const place = PLACES.filter(([pattern]) => pattern.test(file)).map(([, id]) => id);
  return {
    cases: numbers.match(/\d+/g)?.map(Number) ?? [],
    clients: named.length > 0 ? named : place.length > 0 ? place : ALL,
    isForEach: /\$\{(?:at|wire\.\w+)\}/.test(title),
  };
}

const tests = PATHS.flatMap(filesOf).flatMap(testsIn);

for (const [number, { about, clients, others, providers }] of Object.entries(CASES)) {
  t.test(`${number}, ${about}, has its tests`, async (t) => {
    t.equal(others === undefined, clients.length === ALL.length, 'protocols that are not concerned have a reason');
    const own = tests.filter(({ cases }) => cases.includes(Number(number)));
    t.ok(own.length > 0);
    for (const client of clients) {
      const found = own.filter((test) => test.clients.includes(client) && (test.isForEach || providers !== EACH));
      t.ok(found.length > 0, `${client}${providers === EACH ? ' before each provider' : ''}`);
    }
    if (clients.length === 0) t.ok(own.some(({ isForEach }) => isForEach));
  });
}

t.test('there are forty cases, and no title names another', async (t) => {
  t.same(
    Object.keys(CASES).map(Number),
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
  t.same([...new Set(tests.flatMap(({ cases }) => cases).filter((number) => !(number in CASES)))], []);
});
