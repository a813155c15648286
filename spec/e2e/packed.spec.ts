import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import t, { type Test } from 'tap';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { diskBytes, installedFor, packed } from './packed.ts';

const AWS_CHAIN = '@aws-sdk/credential-provider-node';
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'env-secret' };
const MODEL = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const ANSWER = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
};

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a file of the install with Node; `env` is all of its environment. */
function node(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const { folder } = install;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd: folder, env: { HOME: folder, NO_COLOR: '1', ...env } }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

const install = await packed(t);

/** `blockhouse chat` with Bedrock. */
async function setUp(t: Test) {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, ANSWER));
  const base = { AWS_ENDPOINT_URL: upstream.url, AWS_EC2_METADATA_DISABLED: 'true' };
  const chat = (env: Record<string, string> = {}): Promise<Outcome> =>
    node([join(install.root, 'dist/cli/main.js'), 'chat', '--adapter', 'bedrock', '--model', MODEL, '--no-stream', 'hi'], { ...base, ...env });
  return { upstream, chat };
}

t.test('without AWS’s package, keys of the environment and bearer tokens work', async (t) => {
  const { upstream, chat } = await setUp(t);
  t.match(await chat(KEYS), { code: 0, stdout: /^Hello\n/ });
  t.match(await chat({ AWS_BEARER_TOKEN_BEDROCK: 'bearer-token' }), { code: 0, stdout: /^Hello\n/ });
  const proofs = upstream.requests.map(({ headers }) => headers['authorization']);
  t.match(proofs, [/^AWS4-HMAC-SHA256 Credential=AKIDENV\//, 'Bearer bearer-token']);
});

t.test('without AWS’s package, keys of auth.json and of a request work', async (t) => {
  const { upstream } = await setUp(t);
  const workspace = join(install.folder, 'workspace');
  mkdirSync(workspace);
  const stored = { bedrock: { region: 'eu-west-1', accessKeyId: 'AKIDSTORED', secretAccessKey: 'stored-secret' } };
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(stored), { mode: 0o600 });
  const program = `
    import { createCore } from 'blockhouse';
    import { createAdapters } from 'blockhouse/adapters';
    const core = createCore({ adapters: createAdapters(), workspace: './workspace' });
    const ask = { adapter: 'bedrock', model: '${MODEL}', messages: [{ role: 'user', content: 'hi' }] };
    console.log((await core.chat(ask)).message.content);
    console.log((await core.chat({ ...ask, config: { accessKeyId: 'AKIDREQUEST', secretAccessKey: 'request-secret' } })).message.content);
    await core.close();`;
  writeFileSync(join(install.folder, 'program.mjs'), program);
  t.match(await node(['program.mjs'], { AWS_ENDPOINT_URL: upstream.url }), { code: 0, stdout: 'Hello\nHello\n' });
  t.match(
    upstream.requests.map(({ headers }) => headers['authorization']),
    [/Credential=AKIDSTORED\//, /Credential=AKIDREQUEST\//],
  );
});

t.test('without AWS’s package, what needs it names it, the command that installs it and the ways without it', async (t) => {
  const { upstream, chat } = await setUp(t);
  for (const [env, what] of [
    [{}, 'No AWS keys are set'],
    [{ AWS_PROFILE: 'work', ...KEYS }, 'The AWS profile work'],
  ] as const) {
    const { code, stderr } = await chat(env);
    t.not(code, 0);
    t.equal(upstream.requests.length, 0);
    const text = stderr.replace(/\s+/g, ' ');
    const named = [
      what,
      `package ${AWS_CHAIN}`,
      `\`npm install ${AWS_CHAIN}\``,
      'blockhouse auth set bedrock',
      'AWS_ACCESS_KEY_ID',
      'AWS_BEARER_TOKEN_BEDROCK',
    ];
    for (const part of named) t.ok(text.includes(part), `${part} in ${text}`);
  }
});

t.test('every entry of the package loads with the declared packages alone', async (t) => {
  const entries = ['blockhouse', 'blockhouse/adapters', 'blockhouse/http', 'blockhouse/ws'];
  writeFileSync(join(install.folder, 'program.mjs'), entries.map((entry) => `import '${entry}';`).join('\n'));
  t.match(await node(['program.mjs']), { code: 0, stderr: '' });
  t.match(await node([join(install.root, 'dist/cli/main.js'), '--version']), { code: 0, stdout: /^\d+\.\d+\.\d+/ });
});

t.test('an install without AWS’s package is below 20 MB', async (t) => {
  const { root, manifest } = install;
  const rows = [root, ...installedFor(Object.keys(manifest.dependencies ?? {}))].map((folder) => ({ folder, bytes: diskBytes(folder) }));
  const sum = rows.reduce((total, { bytes }) => total + bytes, 0);
  t.ok(sum < 20 * 1024 * 1024, `${(sum / 1024 / 1024).toFixed(2)} MB`);
});

t.test('the package has no specs, no sources and no decisions', async (t) => {
  const unwanted = /\.spec\.|^(?:core|adapters|cli|bench|node_modules|docs\/decisions)\/|(?:^|\/)secrets\/|^spec\/.*\.ts$|^dist\/.*(?<!\.d)\.ts$/;
  t.strictSame(
    install.files.filter((path) => unwanted.test(path)),
    [],
  );
});

t.test('the package has every file that it refers to', async (t) => {
  const { root, files } = install;
  t.strictSame(
    files.filter((path) => path.endsWith('.map')),
    [],
    'source maps',
  );
  t.strictSame(
    files.filter((path) => path.endsWith('.js') && readFileSync(join(root, path), 'utf8').includes('sourceMappingURL')),
    [],
    'references to source maps',
  );
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, string | Record<string, string>> };
  const targets = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)));
  t.ok(targets.length > 10);
  t.strictSame(
    targets.filter((target) => !files.includes(target.slice(2))),
    [],
    'exports',
  );
});

t.test('each page that a packed page links to is packed, too', async (t) => {
  const { root, files } = install;
  for (const page of files.filter((path) => path.endsWith('.md'))) {
    const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g);
    for (const [, target = ''] of links) {
      const path = posix.join(posix.dirname(page), target);
      if (path.startsWith('bench/')) continue; // for readers of the repository
      t.ok(files.includes(path), `${page} links to ${path}`);
    }
  }
});

t.test('each import in the types is of the package itself or of a package that is installed with it', async (t) => {
  const { root, files, manifest } = install;
  const known = [...Object.keys(manifest.dependencies ?? {}), 'node:'];
  for (const path of files.filter((file) => file.endsWith('.d.ts'))) {
    for (const [, specifier = ''] of readFileSync(join(root, path), 'utf8').matchAll(/(?:from |import\()'([\w@][\w@./:-]*)'/g))
      t.ok(
        known.some((name) => specifier.startsWith(name)),
        `${path} imports ${specifier}`,
      );
  }
});

// The last one, because it changes the install.
t.test('once AWS’s package is installed, a profile works', async (t) => {
  const { upstream, chat } = await setUp(t);
  install.add(AWS_CHAIN);
  mkdirSync(join(install.folder, '.aws'));
  writeFileSync(join(install.folder, '.aws/credentials'), '[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = s\n');
  t.match(await chat({ AWS_PROFILE: 'work' }), { code: 0, stdout: /^Hello\n/ });
  t.match((await upstream.arrived(0)).headers['authorization'], 'Credential=AKIDPROFILE/');
});
