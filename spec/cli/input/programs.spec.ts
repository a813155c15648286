import t from 'tap';
import { KNOWN_PROGRAMS, knownProgram, leadOf, pastProxies } from '../../../cli/input/programs.ts';

const TARGET = { origin: 'http://127.0.0.1:8420', key: 'bhk_of-the-run' };

t.test('every known program can be installed by one command, gets the key once, and is led to the server alone', (t) => {
  for (const name of KNOWN_PROGRAMS) {
    t.match(knownProgram(name)?.install, /^(npm install -g|python3 -m pip install) \S/, name);
    const { env, args } = leadOf(name, { ...TARGET, model: 'provider/model' });
    const values = Object.values(env).filter((value) => value !== undefined);
    t.equal(values.filter((value) => value === TARGET.key).length, 1, `${name}: the key`);
    t.notMatch([...args, ...values.filter((value) => value !== TARGET.key)].join(), TARGET.key, `${name}: in no argument, which everybody on the machine sees`);
    const addresses = [...args, ...values].join(' ').match(/https?:\/\/[^"' }]+/g) ?? [];
    t.ok(addresses.length > 0, name);
    t.same([...new Set(addresses.map((address) => new URL(address).origin))], [TARGET.origin], name);
  }
  t.end();
});

t.test('a program asks its own models where no other is given, and any other program is led by the variables of both protocols', (t) => {
  t.same(
    Object.keys(leadOf('claude', { ...TARGET, model: undefined }).env).filter((name) => name.includes('MODEL')),
    [],
  );
  t.notMatch(leadOf('codex', { ...TARGET, model: undefined }).args.join(), /model="/);
  t.equal(knownProgram('toString'), undefined);
  t.match(leadOf('toString', { ...TARGET, model: undefined }).env, { OPENAI_BASE_URL: `${TARGET.origin}/v1`, ANTHROPIC_BASE_URL: TARGET.origin });
  t.end();
});

t.test('where a proxy is set, the server is reached without it, and what else is reached so stays', (t) => {
  const { origin } = TARGET;
  t.same(pastProxies(origin, {}), {}, 'nothing is changed without a proxy');
  t.same(pastProxies(origin, { NO_PROXY: 'a.example', HTTPS_PROXY: '' }), {});
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'])
    t.same(pastProxies(origin, { [name]: 'http://proxy.example:3128' }), { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }, name);
  const proxy = { http_proxy: 'http://proxy.example:3128' };
  const table: [env: Record<string, string>, lists: Record<string, string>][] = [
    [{ NO_PROXY: 'a.example, .b.example' }, { NO_PROXY: 'a.example, .b.example,127.0.0.1', no_proxy: 'a.example, .b.example,127.0.0.1' }],
    [
      { no_proxy: 'a.example', NO_PROXY: 'b.example' },
      { NO_PROXY: 'b.example,127.0.0.1', no_proxy: 'a.example,127.0.0.1' },
    ],
    [
      { no_proxy: '127.0.0.1', NO_PROXY: '*' },
      { NO_PROXY: '*', no_proxy: '127.0.0.1' },
    ],
    [{ NO_PROXY: '' }, { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }],
  ];
  for (const [env, lists] of table) t.same(pastProxies(origin, { ...proxy, ...env }), lists, JSON.stringify(env));
  t.same(pastProxies('http://[::1]:8420', proxy), { NO_PROXY: '::1,[::1]', no_proxy: '::1,[::1]' }, 'programs write it in either way');
  t.end();
});
