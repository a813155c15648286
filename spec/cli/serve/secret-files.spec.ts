import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createConfiguredCore } from '../../../cli/compose.ts';
import { readConfig } from '../../../cli/serve/place.ts';
import { secretIn, withSecretFiles } from '../../../cli/serve/secret-files.ts';
import { CliError } from '../../../cli/terminal/exit-codes.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('keys and the address of the database come from files, without white space around them, also from a file that all may read', (t) => {
  const folder = testFolder(t);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o444);
    return join(folder, name);
  };
  const env = {
    OPENAI_API_KEY_FILE: file('a', 'sk-a\n'),
    MY_GROQ_API_KEY_FILE: file('b', '  gsk-b\r\n'),
    BLOCKHOUSE_STORE_FILE: file('c', 'postgres://db/x?schema=bh_a'),
    ANTHROPIC_API_KEY_FILE: ' ',
    SOMETHING_FILE: '/nowhere',
    GEMINI_API_KEY: 'g',
  };
  t.same(withSecretFiles(env), { ...env, OPENAI_API_KEY: 'sk-a', MY_GROQ_API_KEY: 'gsk-b', BLOCKHOUSE_STORE: 'postgres://db/x?schema=bh_a' });
  t.equal(readConfig({}, env).store?.url, 'postgres://db/x?schema=bh_a');
  t.equal(secretIn({}, 'BLOCKHOUSE_TOKEN_FILE'), undefined);
  t.end();
});

t.test('a file that has no secret is an error that names the variable, the file and the reason', (t) => {
  const folder = testFolder(t);
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('empty'), ' \n');
  writeFileSync(at('lines'), 'sk-a\nsk-b\n');
  writeFileSync(at('large'), 'x'.repeat(65 * 1024));
  mkdirSync(at('folder'));
  for (const [name, reason] of [
    ['empty', 'which is empty'],
    ['lines', 'which has more than one line'],
    ['large', 'which is too large for a secret'],
    ['folder', 'which is not a file'],
    ['missing', 'which does not exist'],
    ['empty/inner', 'which does not exist'],
  ] as const)
    t.throws(() => withSecretFiles({ OPENAI_API_KEY_FILE: at(name) }), new CliError('place', `OPENAI_API_KEY_FILE names ${at(name)}, ${reason}.`), name);
  writeFileSync(at('good'), 'sk-a');
  const both = { OPENAI_API_KEY_FILE: at('good'), OPENAI_API_KEY: 'sk-b' };
  t.throws(() => withSecretFiles(both), new CliError('usage', 'OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set; leave one of them out.'));
  t.throws(() => readConfig({}, { BLOCKHOUSE_STORE_FILE: at('missing') }), { kind: 'place', message: /^BLOCKHOUSE_STORE_FILE names/ });
  t.end();
});

t.test('a core has the keys of files as if they were variables', async (t) => {
  const folder = testFolder(t);
  writeFileSync(join(folder, 'key'), 'sk-ant-from-a-file\n');
  const env = { ANTHROPIC_API_KEY_FILE: join(folder, 'key') };
  const core = await createConfiguredCore(readConfig({ workspace: join(folder, 'workspace') }, env), env);
  t.teardown(() => core.close());
  t.match(core.settings(), [{ adapter: 'anthropic', field: 'apiKey', source: 'ANTHROPIC_API_KEY' }]);
});
