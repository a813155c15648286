import t from 'tap';
import { noCosts } from '../../../../core/block/costs/costs.ts';
import {
  completeConfig,
  formatFile,
  freshMemory,
  freshPulse,
  parseConfig,
  parseCosts,
  parseMemory,
  parsePulse,
} from '../../../../core/block/documents/document-codecs.ts';
import { faultOf } from '../../../../core/schemas/validate.ts';
import { AT } from '../../../support/block-files.ts';

t.test('an empty configuration is completed with the defaults of the contract', (t) => {
  t.same(completeConfig({}, 'ada', AT), {
    name: 'ada',
    description: '',
    adapter: null,
    fallbacks: [],
    systemPrompt: '',
    goals: [],
    tags: [],
    memory: { maxContextTokens: 100_000, thresholdPercent: 80, keepMessages: 20 },
    pulse: { intervalSeconds: 30 },
    retry: { maxAttempts: 4, baseMs: 1000, maxDelayMs: 300_000, staleAfterMs: 86_400_000 },
    budget: { dailyUsd: null, monthlyUsd: null, dailyTokens: null, warnAt: 0.8, timezone: 'UTC' },
    queue: { cap: 100 },
    skills: [],
    logs: { maxFileBytes: 5_242_880, maxFiles: 50 },
    schedule: [],
    hooks: [],
    autoStart: false,
    enabled: false,
    createdAt: AT,
    updatedAt: AT,
    rev: 1,
  });
  t.end();
});

t.test('given fields stay, unknown ones too, and objects inside are completed', (t) => {
  const given = { budget: { dailyUsd: 0, mine: 1 }, adapter: { provider: 'p', model: 'm', odd: true }, mine: { deep: [1] }, rev: 7, createdAt: 'then' };
  t.match(completeConfig(given, 'ada', AT), {
    budget: { dailyUsd: 0, monthlyUsd: null, warnAt: 0.8, mine: 1 },
    adapter: { provider: 'p', model: 'm', odd: true, maxTokens: 4096, cacheControl: false },
    mine: { deep: [1] },
    rev: 7,
    createdAt: 'then',
    updatedAt: AT,
  });
  t.end();
});

t.test('a minimal configuration is enough, and the error about a wrong one names the field', (t) => {
  t.match(parseConfig({ name: 'ada' }, 'ada', AT), { name: 'ada', enabled: false });
  const wrong: [unknown, RegExp][] = [
    [null, /^it must be an object/],
    [[], /^it must be an object/],
    [{}, /^name is required/],
    [{ name: 'bob' }, /^name must be "ada", the name of its folder/],
    [{ name: 'ada', tags: 'x' }, /^tags must be an array/],
    [{ name: 'ada', memory: { keepMessages: -1 } }, /^memory\.keepMessages must be/],
    [{ name: 'ada', adapter: { provider: 'p' } }, /^adapter\.model is required/],
    [{ name: 'ada', rev: 1.5 }, /^rev must be an integer/],
    [{ name: 'ada', budget: { timezone: 'Europe/Berln' } }, /^budget\.timezone must be an IANA time zone such as UTC or Europe\/Berlin, not "Europe\/Berln"/],
  ];
  for (const [value, message] of wrong) t.throws(() => parseConfig(value, 'ada', AT), { message });
  t.end();
});

t.test('the other files are completed and checked, and keep unknown fields', (t) => {
  const { summaryUpdatedAt: _at, ...memory } = freshMemory(5000);
  t.match(parseMemory({ ...memory, mine: 1 }), { summaryUpdatedAt: null, mine: 1, window: { maxTokens: 5000 } });
  t.match(parseCosts({ totalInput: 1, totalOutput: 2, totalCost: null, calls: 3, mine: 1 }, noCosts()), { calls: 3, byDay: {}, mine: 1 });
  t.match(parsePulse({ status: 'SLEEPING', state: 'stopped', mine: 1 }), { transitions: [], mine: 1 });
  t.throws(() => parseMemory({ ...memory, facts: [{ id: 'f' }] }), { message: /^facts\[0\]\.text is required/ });
  t.throws(() => parseCosts({ totalInput: -1, totalOutput: 2, totalCost: null, calls: 3 }, noCosts()), { message: /^totalInput must be/ });
  t.throws(() => parsePulse({ status: 'HAPPY', state: 'stopped' }), { message: /^status must be/ });
  t.end();
});

t.test('fresh contents are valid and are read back unchanged', (t) => {
  for (const [parse, value] of [
    [parseMemory, freshMemory()],
    [parsePulse, freshPulse()],
    [(json: unknown) => parseCosts(json, noCosts()), noCosts()],
    [(json: unknown) => parseConfig(json, 'ada', AT), completeConfig({}, 'ada', AT)],
  ] as [(json: unknown) => unknown, unknown][]) {
    const text = formatFile(value);
    t.equal(text, `${JSON.stringify(value, null, 2)}\n`);
    t.same(parse(JSON.parse(text)), value);
  }
  t.end();
});

t.test('a __proto__ written by hand stays a field', (t) => {
  const config = parseConfig(JSON.parse('{"name":"ada","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'), 'ada', AT);
  t.equal((config as unknown as Record<string, unknown>)['polluted'], undefined);
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
  t.match(formatFile(config), /"__proto__": \{\n/);
  t.end();
});

t.test('the fault of an error that is not about validation is its message', (t) => {
  t.equal(faultOf(new Error('odd')), 'odd');
  t.end();
});
