import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { secretField } from '../../../core/schemas/secret-fields.ts';
import { packFolder } from '../../../core/store/files/bundle/bundle.ts';
import { RUNNABLE, type StartedCore, startCore } from '../../support/blocks.ts';

const CANARY = 'canary-4711';

t.test('a field with a name like a key is found at any depth and named by its path', async (t) => {
  const cases: [unknown, string | undefined][] = [
    [{ apiKey: 1 }, 'apiKey'],
    [{ adapter: { provider: 'p', 'api-key': 1 } }, 'adapter.api-key'],
    [{ mine: [{ a: 1 }, { deep: { secretAccessKey: 1 } }] }, 'mine[1].deep.secretAccessKey'],
    [{ token: 1 }, 'token'],
    [{ Authorization: 1 }, 'Authorization'],
    [{ [`${'x'.repeat(100)}password`]: 1 }, 'x'.repeat(64)],
    [{ maxTokens: 1, keepMessages: 2, monkey: 3, tokens: 4 }, undefined],
    [{ secretary: 1, apiKeyboard: 2, forbearers: 3, passwordless: 4, SecretaryName: 5, secret_ary: [] }, 'secret_ary'],
    [{ secretary: 1, apiKeyboard: 2, passwordless: 4, SecretaryName: 5 }, undefined],
    [{ clientSecret: 1 }, 'clientSecret'],
    [{ CLIENT_SECRETS: 1 }, 'CLIENT_SECRETS'],
    [{ AWSSecretAccessKey: 1 }, 'AWSSecretAccessKey'],
    [{ OPENAI_API_KEY: 1 }, 'OPENAI_API_KEY'],
    [{ openaiapikey: 1 }, 'openaiapikey'],
    [{ accesstoken: 1 }, 'accesstoken'],
    [{ dbPassword2: 1 }, 'dbPassword2'],
    [{ passWord: 1 }, 'passWord'],
    [{ APIKeys: 1 }, 'APIKeys'],
    [{ proxyAuthorization: 1 }, 'proxyAuthorization'],
    [{ bearerToken: 1 }, 'bearerToken'],
    [{ description: 'the apiKey is elsewhere' }, undefined],
    [[], undefined],
    [null, undefined],
  ];
  for (const [value, field] of cases) t.equal(secretField(value), field, JSON.stringify(value)?.slice(0, 80));
});

/** Everything that anybody is shown of the workspace. */
async function shown({ blocks, facts }: StartedCore, name: string): Promise<string> {
  const calls = [blocks.list(), blocks.archives(), blocks.check(), blocks.details(name), blocks.config(name), blocks.logs(name), blocks.explain(name)];
  const answers = await Promise.all(calls.map((call) => call.catch((error: Error) => error.message)));
  const exported = await blocks.export(name).then(
    (bundle) => gunzipSync(bundle).toString('latin1'),
    (error: Error) => error.message,
  );
  return JSON.stringify([answers, facts, exported]);
}

for (const [where, holder] of [
  ['in the adapter', { adapter: { ...RUNNABLE.adapter, apiKey: CANARY } as typeof RUNNABLE.adapter }],
  ['deep in a field that nobody knows', { mine: [{ deep: { secretAccessKey: CANARY } }] } as object],
] as const) {
  t.test(`a key ${where} comes in by no way, and is given back by none`, async (t) => {
    const one = await startCore(t);
    const refused = { code: 'INVALID_REQUEST', message: /looks like a key; keys belong in auth\.json/ };
    await t.rejects(one.blocks.create({ name: 'ada', config: holder }), refused);
    await one.create('ada');
    await t.rejects(one.blocks.updateConfig('ada', holder), refused);

    const sound = one.readJson('ada', 'config');
    one.write('ada', 'config', { ...sound, ...holder });
    await t.rejects(one.blocks.config('ada'), { code: 'BLOCK_DAMAGED', message: /config\.json can't be used: .*looks like a key.*Repair it by hand\.$/ });
    t.match(await one.blocks.list(), [{ name: 'ada', status: 'ERROR', configError: /looks like a key/ }]);
    await t.rejects(one.blocks.updateConfig('ada', { description: 'x' }), { code: 'BLOCK_DAMAGED' });
    await t.rejects(one.blocks.export('ada'), { code: 'BLOCK_DAMAGED', message: /looks like a key/ });
    t.notMatch(await shown(one, 'ada'), CANARY);
    t.notOk(
      readdirSync(one.folder('ada')).some((name) => name.includes('corrupt')),
      'no second file holds the key',
    );
    one.write('ada', 'config', sound);
    t.match(await one.blocks.config('ada'), { name: 'ada' }, 'without the key it is used again');
  });

  t.test(`a block with a key ${where} is neither restored nor imported`, async (t) => {
    const one = await startCore(t);
    await one.create('ada');
    const bundle = await packFolder(one.folder('ada'), 'ada', { 'config.json': JSON.stringify({ ...one.readJson('ada', 'config'), ...holder }) });
    const { archiveName } = await one.blocks.archive('ada');
    const path = join(one.workspace, 'archive', archiveName, 'config.json');
    const config = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...config, ...holder }));
    await t.rejects(one.blocks.restore('ada'), { code: 'BLOCK_DAMAGED', message: /looks like a key/ });
    t.match(await one.blocks.check(), { ok: false, findings: [{ place: `archive/${archiveName}/config.json`, problem: /looks like a key/ }] });

    await t.rejects(one.blocks.import(bundle), { code: 'INVALID_REQUEST', message: /config\.json in the archive can't be used: .*looks like a key/ });
    t.same(readdirSync(join(one.workspace, 'blocks')), []);
    t.notMatch(JSON.stringify([await one.blocks.archives(), await one.blocks.check(), one.facts]), CANARY);
  });
}
