import t from 'tap';
import { openDesk } from '../run.ts';

t.test('an alias is set, listed, resolved and removed', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['alias']), { code: 0, stdout: '', stderr: /^There are no aliases yet\. `.*alias set <name> <provider>\/<model> .*` sets one\.\n$/ });
  t.same(await on(['alias', 'set', 'gpt-*', 'ollama/m:1b', 'ollama/n:7b']), {
    code: 0,
    stdout: '',
    stderr: 'gpt-* stands for ollama/m:1b, then ollama/n:7b.\n',
  });
  t.match((await on(['alias', 'ls'])).stdout, /^NAME +STANDS FOR\ngpt-\* +ollama\/m:1b, then ollama\/n:7b\n$/);
  t.match(await on(['models', 'gpt-4o']), { code: 0, stdout: 'gpt-4o → ollama/m:1b (by the alias gpt-*)\nthen ollama/n:7b\n' });
  t.match(await on(['alias', 'set', 'a', 'b']), { code: 2, stderr: /"b" names no provider; write <provider>\/<model>\./ });
  t.same(await on(['alias', 'rm', 'gpt-*', '--yes']), { code: 0, stdout: '', stderr: 'The alias gpt-* is removed.\n' });
  t.match(await on(['alias', 'rm', 'gpt-*', '--yes']), { code: 2, stderr: /There is no alias/ });
});

t.test('the default provider answers what nothing else resolves', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['models', 'mystery']), { code: 2, stderr: /No provider has a model "mystery"/ });
  t.match(await on(['alias', 'default', 'ollama']), { code: 0, stderr: 'The default provider is ollama.\n' });
  t.match(await on(['models', 'mystery']), { stdout: 'mystery → ollama/mystery (by the default provider)\n' });
  t.match((await on(['alias', 'ls'])).stderr, /Other names go to ollama\./);
  t.match(await on(['alias', 'default', 'none']), { code: 0, stderr: 'There is no default provider.\n' });
  t.match(await on(['alias', 'default', 'acme']), { code: 2, stderr: /defaultProvider must be one of/ });
});

t.test('models without a name lists what clients may send', async (t) => {
  const { on } = await openDesk(t);
  await on(['alias', 'set', 'best', 'ollama/m:1b']);
  t.match((await on(['models'])).stdout, /^best\n(?:.*\n)*ollama\/m:1b\n/);
  t.match(JSON.parse((await on(['models', '--json'])).stdout), { defaultProvider: null, aliases: [{ name: 'best' }] });
});

t.test('costs --gateway shows the calls of clients by key, and takes no block', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['costs', '--gateway']), { code: 0, stdout: /^KEY +CALLS/ });
  t.match(await on(['costs', '--gateway', 'ada']), { code: 2, stderr: /takes no block/ });
  t.match(await on(['costs', '--gateway', '--by', 'block']), { code: 2, stderr: /--by must be one of key, connection, credential,\s+model, day/ });
});

t.test('models have weights, and an alias says after which failures the next one is asked', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['alias', 'set', 'coder', 'ollama/a@3', 'ollama/b:7b@1', 'ollama/c', '--on', 'rate,down']), {
    code: 0,
    stderr: 'coder stands for ollama/a (weight 3), then ollama/b:7b (weight 1), then ollama/c.\n',
  });
  t.match((await on(['alias', 'ls'])).stdout, /coder +ollama\/a@3, then ollama\/b:7b@1, then ollama\/c \(on rate, down\)\n/);
  t.match(JSON.parse((await on(['models', 'coder', '--json'])).stdout), {
    on: ['rate', 'down'],
    targets: [{ model: 'a', weight: 3 }, { model: 'b:7b', weight: 1 }, { model: 'c' }],
  });
  t.match(await on(['alias', 'set', 'coder', 'ollama/a', '--on', 'rain']), { code: 2, stderr: /on\[0\] must be one of/ });
  t.match(await on(['alias', 'set', 'coder', 'ollama/a@0']), { code: 2, stderr: /weight/ });
});
