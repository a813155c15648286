import t from 'tap';
import { applyPatch } from '../../../../core/block/status/config-rules.ts';
import { invalidRequest } from '../../../../core/errors.ts';
import { parseBaseURL } from '../../../../core/gateway/egress.ts';
import type { BlockConfig } from '../../../../core/schemas/block-config.ts';
import { AT, configOf } from '../../../support/block-files.ts';

const LATER = '2026-11-21T00:00:00.000Z';

function canonical(name: string, field: string): string {
  if (name === 'alias') return 'real';
  if (name !== 'real') throw invalidRequest(field, 'is unknown');
  return name;
}

function checkBaseURL(_provider: string, baseURL: string, field: string): void {
  parseBaseURL(baseURL, field);
}

const patched = (patch: unknown, config: BlockConfig = configOf()): BlockConfig => applyPatch(config, patch, { canonical, checkBaseURL, at: LATER });

t.test('given fields replace the old ones as a whole, and all others stay, unknown ones too', (t) => {
  const config = configOf({ description: 'old', budget: { dailyUsd: 5, warnAt: 0.5 }, mine: { a: 1 }, goals: ['g'] });
  const next = patched({ description: 'new', budget: { monthlyUsd: 1 }, yours: [1] }, config);
  t.match(next, { description: 'new', budget: { dailyUsd: null, monthlyUsd: 1, warnAt: 0.8 }, mine: { a: 1 }, yours: [1], goals: ['g'] });
  t.match(next, { rev: 2, createdAt: AT, updatedAt: LATER });
  t.match(patched({ adapter: null }, patched({ adapter: { provider: 'real', model: 'm' } })), { adapter: null, rev: 3 });
  t.end();
});

t.test("a change can't set the fields that only the server sets", (t) => {
  t.match(patched({ rev: 99, createdAt: 'x', updatedAt: 'x', name: 'a' }), { rev: 2, createdAt: AT, updatedAt: LATER, name: 'a' });
  t.end();
});

t.test('the alias of a provider is stored as its id', (t) => {
  const next = patched({
    adapter: { provider: 'alias', model: 'm' },
    fallbacks: [
      { provider: 'real', model: 'n' },
      { provider: 'alias', model: 'o' },
    ],
  });
  t.equal(next.adapter?.provider, 'real');
  t.same(
    next.fallbacks.map(({ provider }) => provider),
    ['real', 'real'],
  );
  t.end();
});

const WRONG: readonly (readonly [unknown, string])[] = [
  [null, ''],
  [[], ''],
  ['x', ''],
  [{ description: 5 }, 'description'],
  [{ adapter: 'real' }, 'adapter'],
  [{ adapter: { provider: 'real' } }, 'adapter.model'],
  [{ adapter: { provider: 'real', model: '' } }, 'adapter.model'],
  [{ adapter: { provider: 'real', model: 'm', temperature: 1.5 } }, 'adapter.temperature'],
  [{ adapter: { provider: 'real', model: 'm', baseURL: 'foo' } }, 'adapter.baseURL'],
  [{ adapter: { provider: 'real', model: 'm', region: 'EU west!' } }, 'adapter.region'],
  [{ adapter: { provider: 'other', model: 'm' } }, 'adapter.provider'],
  [{ adapter: { provider: '__proto__', model: 'm' } }, 'adapter.provider'],
  [{ fallbacks: {} }, 'fallbacks'],
  [
    {
      fallbacks: [
        { provider: 'real', model: 'm' },
        { provider: 'other', model: 'm' },
      ],
    },
    'fallbacks[1].provider',
  ],
  [{ systemPrompt: null }, 'systemPrompt'],
  [{ goals: 'x' }, 'goals'],
  [{ goals: [1] }, 'goals[0]'],
  [{ tags: [''] }, 'tags[0]'],
  [{ memory: null }, 'memory'],
  [{ memory: { keepMessages: '20' } }, 'memory.keepMessages'],
  [{ memory: { thresholdPercent: 101 } }, 'memory.thresholdPercent'],
  [{ pulse: { intervalSeconds: 4 } }, 'pulse.intervalSeconds'],
  [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts'],
  [{ retry: { baseMs: 2 ** 31 } }, 'retry.baseMs'],
  [{ budget: { dailyUsd: -1 } }, 'budget.dailyUsd'],
  [{ budget: { dailyUsd: Number.POSITIVE_INFINITY } }, 'budget.dailyUsd'],
  [{ budget: { timezone: 'Mars/Olympus' } }, 'budget.timezone'],
  [{ queue: { cap: 0 } }, 'queue.cap'],
  [{ logs: { maxFileBytes: 1 } }, 'logs.maxFileBytes'],
  [{ autoStart: 'yes' }, 'autoStart'],
  [{ enabled: 1 }, 'enabled'],
  [{ name: 'other' }, 'name'],
  [{ name: 5 }, 'name'],
  [{ apiKey: 'sk-1' }, 'apiKey'],
  [{ api_key: 'sk-1' }, 'api_key'],
  [{ adapter: { provider: 'real', model: 'm', apiKey: 'sk-1' } }, 'adapter.apiKey'],
  [{ adapter: { provider: 'real', model: 'm', headers: { Authorization: 'sk-1' } } }, 'adapter.headers.Authorization'],
  [{ mine: [{ deep: { secretAccessKey: 'sk-1' } }] }, 'mine[0].deep.secretAccessKey'],
  [{ mine: { 'x-api-key': null } }, 'mine.x-api-key'],
  [{ token: 'sk-1' }, 'token'],
  [{ mine: { password: 'sk-1' } }, 'mine.password'],
  [{ mine: { passphrase: 'sk-1' } }, 'mine.passphrase'],
  [{ 'session-token': 'sk-1' }, 'session-token'],
  [{ __proto: { awsCredentials: 'sk-1' } }, '__proto.awsCredentials'],
];

t.test('each wrong field is refused by its path, and its value is not repeated', (t) => {
  for (const [patch, path] of WRONG) {
    t.throws(() => patched(patch), { code: 'INVALID_REQUEST', status: 400, details: [{ path }], message: /^(?!.*sk-1)/ }, JSON.stringify(patch));
  }
  for (const [patch, path] of [
    [{ apiKey: 'x' }, 'config.apiKey'],
    [{ name: 'x' }, 'config.name'],
    [{ budget: { timezone: 'Mars' } }, 'config.budget.timezone'],
  ] as const) {
    t.throws(() => applyPatch(configOf(), patch, { canonical, checkBaseURL, at: LATER, place: 'config.' }), { code: 'INVALID_REQUEST', details: [{ path }] });
  }
  t.end();
});

t.test('fields that count tokens are not taken for secrets', (t) => {
  t.match(patched({ budget: { dailyTokens: 5 }, memory: { maxContextTokens: 1000 }, tokenizer: 'x', keyboard: 'y' }), { tokenizer: 'x', keyboard: 'y' });
  t.end();
});

t.test('__proto__ and constructor are inert', (t) => {
  const next = patched(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"memory":{"__proto__":{"polluted":1}}}'));
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
  t.equal((next as unknown as Record<string, unknown>)['polluted'], undefined);
  t.equal((next.memory as Record<string, unknown>)['polluted'], undefined);
  t.same(Object.getPrototypeOf(next), Object.prototype);
  t.end();
});

t.test('deep nesting is refused before any other check', (t) => {
  for (const depth of [101, 10_000, 200_000]) {
    let deep: unknown = 1;
    for (let n = 0; n < depth; n += 1) deep = n % 2 === 0 ? [deep] : { a: deep };
    t.throws(() => patched({ mine: deep }), { code: 'INVALID_REQUEST', message: /nests deeper/ });
  }
  t.end();
});

t.test("unknown fields can't add up without limit", (t) => {
  const fields = (from: number, count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`field${from + n}`, n]));
  const refusal = { code: 'INVALID_REQUEST', message: /more than 2000 fields and elements/ };
  t.throws(() => patched(fields(0, 2001)), refusal);
  const half = patched(fields(0, 1500));
  t.throws(() => patched(fields(5000, 1500), half), refusal, 'together with those that are there');
  t.match(patched(fields(0, 1500), half), { field7: 7 }, 'the same ones again are no more');
  const long = patched({ mine: 'x'.repeat(1_000_000) });
  t.throws(() => patched({ yours: 'x'.repeat(1_200_000) }, long), { code: 'INVALID_REQUEST', message: /longer than 2097152 characters/ });
  t.end();
});
