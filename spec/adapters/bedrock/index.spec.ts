import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { ProviderChain } from '../../../adapters/bedrock/chain.ts';
import { Authorizer } from '../../../adapters/bedrock/credentials.ts';
import { createBedrock } from '../../../adapters/bedrock/index.ts';
import type { AwsKeys } from '../../../adapters/bedrock/sign.ts';
import { parseJson } from '../../../core/base/json.ts';
import { type ChatStreamEvent, type Core, createCore } from '../../../core/index.ts';
import { argsForText } from '../../support/node-args.ts';
import { type Answerer, type FakeUpstream, sendInPieces, sendJson, startUpstream } from '../../support/upstream.ts';
import { CLAUDE, HEX_EXCEPTION_FRAME, streamOf } from './help.ts';

const EVENT_STREAM = 'application/vnd.amazon.eventstream';
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret-secret-secret', AWS_REGION: 'eu-west-1' };
const ASK = { adapter: 'bedrock', model: CLAUDE, messages: [{ role: 'user' as const, content: 'hi' }] };
const ANSWER = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
};
const STREAM = streamOf(
  ['messageStart', { role: 'assistant' }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße ' } }],
  ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: '🌍' } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['messageStop', { stopReason: 'end_turn' }],
  ['metadata', { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } }],
);

async function setUp(t: Test, answer: Answerer, env: Record<string, string> = KEYS): Promise<{ core: Core; upstream: FakeUpstream }> {
  const upstream = await startUpstream(t, answer);
  const core = createCore({ adapters: [createBedrock()], env: { AWS_ENDPOINT_URL: upstream.url, ...env }, retries: 0 });
  t.teardown(() => core.close());
  return { core, upstream };
}

async function collect(core: Core): Promise<{ text: string; events: ChatStreamEvent[] }> {
  const events: ChatStreamEvent[] = [];
  for await (const event of core.stream(ASK)) events.push(event);
  return { text: events.map((event) => (event.type === 'content' ? event.text : '')).join(''), events };
}

t.test('a whole answer over a real socket, signed for the region', async (t) => {
  const { core, upstream } = await setUp(t, (_request, res) => sendJson(res, ANSWER));
  const answer = await core.chat(ASK);
  t.match(answer, { provider: 'bedrock', message: { content: 'Hello' }, usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 }, stopReason: 'end_turn' });
  const { path, headers, body } = await upstream.arrived(0);
  t.equal(path, `/model/${CLAUDE}/converse`);
  t.match(headers, {
    'content-type': 'application/json',
    accept: 'application/json',
    authorization:
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, /,
    'x-amz-date': /^\d{8}T\d{6}Z$/,
  });
  t.match(parseJson(body), { messages: [{ role: 'user', content: [{ text: 'hi' }] }] });
});

t.test('a stream, however it is cut', async (t) => {
  for (const size of [1, 7, 64, STREAM.length]) {
    const { core, upstream } = await setUp(t, (_request, res) => sendInPieces(res, STREAM, size, EVENT_STREAM));
    const { text, events } = await collect(core);
    t.equal(text, 'Grüße 🌍');
    t.match(events.at(-1), { type: 'done', stopReason: 'end_turn', usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } });
    t.match(await upstream.arrived(0), { path: `/model/${CLAUDE}/converse-stream`, headers: { accept: EVENT_STREAM } });
  }
});

t.test('a stream cut short is an error, never a quiet end', async (t) => {
  const { core } = await setUp(t, (_request, res) => sendInPieces(res, STREAM.subarray(0, STREAM.length - 300), 64, EVENT_STREAM));
  await t.rejects(collect(core), { code: 'UPSTREAM_MALFORMED', message: /cut short/ });
});

t.test('an exception frame after HTTP 200 is the provider’s error', async (t) => {
  const { core } = await setUp(t, (_request, res) => sendInPieces(res, Buffer.from(HEX_EXCEPTION_FRAME, 'hex'), 64, EVENT_STREAM));
  await t.rejects(collect(core), { code: 'UPSTREAM_RATE_LIMITED', message: 'Amazon Bedrock: slow down' });
});

t.test('error answers keep their status, their wait and no secret', async (t) => {
  const { core } = await setUp(t, (_request, res) =>
    sendJson(res, { message: 'slow down, secret-secret-secret' }, 429, { 'x-amzn-errortype': 'ThrottlingException:', 'retry-after': '7' }),
  );
  const expected = { code: 'UPSTREAM_RATE_LIMITED', upstreamStatus: 429, retryAfterMs: 7000, message: 'Amazon Bedrock (HTTP 429): slow down, [redacted]' };
  await t.rejects(core.chat(ASK), expected);
  await t.rejects(collect(core), expected);
});

t.test('a bearer token is sent in place of a signature', async (t) => {
  const { core, upstream } = await setUp(t, (_request, res) => sendJson(res, ANSWER), { ...KEYS, AWS_BEARER_TOKEN_BEDROCK: 'bedrock-token' });
  await core.chat(ASK);
  const { headers } = await upstream.arrived(0);
  t.equal(headers['authorization'], 'Bearer bedrock-token');
  t.equal(headers['x-amz-date'], undefined);
});

t.test('keys of a request win over everything, and half of them is an error before anything is sent', async (t) => {
  const env = { ...KEYS, AWS_SESSION_TOKEN: 'env-token', AWS_BEARER_TOKEN_BEDROCK: 'bedrock-token' };
  const { core, upstream } = await setUp(t, (_request, res) => sendJson(res, ANSWER), env);
  await core.chat({ ...ASK, config: { accessKeyId: 'AKIDREQUEST', secretAccessKey: 'other-secret', region: 'us-west-2' } });
  const { headers } = await upstream.arrived(0);
  t.match(headers['authorization'], /Credential=AKIDREQUEST\/\d{8}\/us-west-2\//);
  t.equal(headers['x-amz-security-token'], undefined);
  await t.rejects(core.chat({ ...ASK, config: { accessKeyId: 'AKIDREQUEST' } }), { code: 'INVALID_REQUEST', message: /config\.secretAccessKey/ });
  t.equal(upstream.requests.length, 1);
});

t.test('a baseURL is refused: the endpoint follows from the region', async (t) => {
  const { core } = await setUp(t, (_request, res) => sendJson(res, ANSWER));
  await t.rejects(core.chat({ ...ASK, config: { baseURL: 'https://evil.example' } }), { code: 'INVALID_REQUEST', message: /config\.baseURL/ });
});

t.test('a stored region that is none, or a bad endpoint, is an error of configuration', async (t) => {
  const { core } = await setUp(t, (_request, res) => sendJson(res, ANSWER), { ...KEYS, AWS_REGION: 'evil.example/' });
  await t.rejects(core.chat(ASK), { code: 'ADAPTER_NOT_CONFIGURED', message: /region from env:AWS_REGION/ });
});

t.test('AWS’s own hosts of any region may have a stored key', async (t) => {
  const origins = createBedrock().trustedOrigins?.({ values: { region: 'ap-south-1' }, sources: { region: 'request' } });
  t.same(origins, ['https://bedrock-runtime.ap-south-1.amazonaws.com', 'https://bedrock.ap-south-1.amazonaws.com']);
});

t.test('metadata and models need no credential and no network', async (t) => {
  const core = createCore({ adapters: [createBedrock()], env: {} });
  t.match(core.adapters(), [{ id: 'bedrock', displayName: 'Amazon Bedrock', authRequired: true, envVars: [] }]);
  const { models } = await core.models('bedrock');
  t.ok(models.includes(core.adapter('bedrock').defaultModel));
});

t.test('verify asks the control host for its models', async (t) => {
  const { core, upstream } = await setUp(t, (_request, res) => sendJson(res, { modelSummaries: [{ modelId: 'a' }, { modelId: 'b' }] }));
  t.same(await core.verify('bedrock'), {
    provider: 'bedrock',
    ok: true,
    detail: 'The credentials are valid in eu-west-1; 2 foundation models are available there.',
  });
  const { method, path, headers } = await upstream.arrived(0);
  t.equal(`${method} ${path}`, 'GET /foundation-models?byOutputModality=TEXT');
  t.match(headers['authorization'], /\/eu-west-1\/bedrock\/aws4_request/);
});

t.test('verify tells keys that may not list models from keys that are wrong', async (t) => {
  const denied = { Message: 'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:ListFoundationModels because no policy allows it' };
  const bodies: [unknown, string][] = [
    [denied, 'AccessDeniedException'],
    [{ message: 'The security token included in the request is invalid.' }, 'UnrecognizedClientException'],
    [{ Message: 'Authentication failed: Please make sure your API Key is valid.' }, 'AccessDeniedException'],
  ];
  const { core } = await setUp(t, (_request, res, index) => {
    const [body, type] = bodies[index] ?? [{}, ''];
    sendJson(res, body, 403, { 'x-amzn-errortype': type });
  });
  t.match(await core.verify('bedrock'), { ok: true, detail: /valid in eu-west-1, but they do not allow listing models/ });
  t.match(await core.verify('bedrock'), { ok: false, detail: /security token included in the request is invalid/ });
  t.match(await core.verify('bedrock'), { ok: false, detail: /Authentication failed/ });
});

/** A core without keys of its own, whose chain finds them when the test says so. */
async function setUpChain(t: Test, answer: Answerer, timeouts: { connectMs?: number } = {}) {
  const upstream = await startUpstream(t, answer);
  let find: (keys: AwsKeys) => void = () => undefined;
  const found = new Promise<AwsKeys>((resolve) => {
    find = resolve;
  });
  const chain = new ProviderChain(async () => () => found);
  const core = createCore({ adapters: [createBedrock(new Authorizer(chain))], env: { AWS_ENDPOINT_URL: upstream.url }, retries: 0, timeouts });
  t.teardown(() => core.close());
  return { core, upstream, find: () => find({ accessKeyId: 'AKIDFOUND', secretAccessKey: 'found-secret-found-secret' }) };
}

t.test('keys that the chain finds sign whole answers, streams and probes', async (t) => {
  const { core, upstream, find } = await setUpChain(t, (_request, res, index) =>
    index === 1 ? sendInPieces(res, STREAM, 64, EVENT_STREAM) : sendJson(res, index === 0 ? ANSWER : { modelSummaries: [] }),
  );
  find();
  t.match(await core.chat(ASK), { message: { content: 'Hello' } });
  t.equal((await collect(core)).text, 'Grüße 🌍');
  t.match(await core.verify('bedrock'), { ok: true });
  for (const { headers } of upstream.requests) t.match(headers['authorization'], /Credential=AKIDFOUND\//);
  t.equal(upstream.requests.length, 3);
});

t.test('keys that the chain found stay out of errors, too', async (t) => {
  const { core, find } = await setUpChain(t, (_request, res) => sendJson(res, { message: 'no found-secret-found-secret here' }, 400));
  find();
  await t.rejects(core.chat(ASK), { message: 'Amazon Bedrock (HTTP 400): no [redacted] here' });
});

t.test('a search for keys that hangs ends at its limit, whole and streamed', async (t) => {
  const { core, upstream } = await setUpChain(t, (_request, res) => sendJson(res, ANSWER), { connectMs: 5 });
  await t.rejects(core.chat(ASK), { code: 'UPSTREAM_TIMEOUT', message: /credential/ });
  await t.rejects(collect(core), { code: 'UPSTREAM_TIMEOUT' });
  t.match(await core.verify('bedrock'), { ok: false, detail: /credential/ });
  t.equal(upstream.requests.length, 0);
});

t.test('closing ends a search for keys, and keys that come later send nothing', async (t) => {
  const { core, upstream, find } = await setUpChain(t, (_request, res) => sendJson(res, ANSWER));
  const ended = t.rejects(core.chat(ASK), { code: 'SHUTTING_DOWN' });
  await core.close();
  await ended;
  find();
  await new Promise((resolve) => setTimeout(resolve, 50)); // what should not happen has no mark of its own
  t.equal(upstream.requests.length, 0);
});

/** Runs a module in a process of its own; `env` is all of its environment. */
async function inChild(source: string, env: Record<string, string> = {}, ...hooks: string[]): Promise<string> {
  const args = [...hooks.flatMap((hook) => ['--import', hook]), ...argsForText(source)];
  const run = await promisify(execFile)(process.execPath, args, { env });
  return run.stdout;
}

/** A resolve hook that writes each specifier that is imported by anybody. */
const LISTING_HOOK = (() => {
  const hook = `import { writeSync } from 'node:fs';
    export async function resolve(specifier, context, next) { writeSync(1, 'import ' + specifier + '\\n'); return next(specifier, context); }`;
  const url = `data:text/javascript,${encodeURIComponent(hook)}`;
  return `data:text/javascript,${encodeURIComponent(`import { register } from 'node:module'; register(${JSON.stringify(url)});`)}`;
})();
const OF_AWS = /^import (@aws-sdk|@smithy|@aws-crypto)\//m;

const CHAT_IN_CHILD = `
  import { createCore } from './core/index.ts';
  import { createBedrock } from './adapters/bedrock/index.ts';
  const core = createCore({ adapters: [createBedrock()], retries: 0 });
  const chat = core.chat({ adapter: 'bedrock', model: '${CLAUDE}', messages: [{ role: 'user', content: 'hi' }] });
  console.log(JSON.stringify(await chat.then((answer) => answer.message, ({ code, message }) => ({ code, message }))));
  await core.close();`;

let withoutKeys: Promise<string> | undefined;

/** What a chat without any keys imports, and what becomes of it; of one process, since it loads AWS's chain. */
function chatWithoutKeys(t: Test): Promise<string> {
  withoutKeys ??= inChild(CHAT_IN_CHILD, { HOME: t.testdir(), AWS_EC2_METADATA_DISABLED: 'true' }, LISTING_HOOK);
  return withoutKeys;
}

t.test('nothing of AWS is loaded for keys that are there, only for its chain', async (t) => {
  const create = `const { createBedrock } = await import('./adapters/bedrock/index.ts'); const adapter = createBedrock();`;
  const authorize = `const { Authorizer } = await import('./adapters/bedrock/credentials.ts');
    const values = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
    const sources = { accessKeyId: 'request', secretAccessKey: 'request' };
    await new Authorizer().authorize({ method: 'GET', url: new URL('https://x.example'), headers: {} }, { values, sources });`;
  const signed = await inChild(`${create}${authorize}`, {}, LISTING_HOOK);
  t.match(signed, /^import file:.*\/adapters\/bedrock\/credentials\.[jt]s$/m, 'the hook sees imports');
  t.notMatch(signed, OF_AWS);
  t.match(await chatWithoutKeys(t), OF_AWS);
});

t.test('keys of a profile in ~/.aws are found by AWS’s own chain', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, ANSWER));
  const home = t.testdir();
  mkdirSync(join(home, '.aws'));
  writeFileSync(join(home, '.aws', 'credentials'), '[work]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = s\naws_session_token = profile-token\n');
  const env = { HOME: home, AWS_PROFILE: 'work', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url, AWS_EC2_METADATA_DISABLED: 'true' };
  const printed = await inChild(CHAT_IN_CHILD, { ...env, AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'x' });
  t.match(parseJson(printed), { content: 'Hello' });
  const { headers } = await upstream.arrived(0);
  t.match(headers['authorization'], 'Credential=AKIDPROFILE/');
  t.equal(headers['x-amz-security-token'], 'profile-token');
});

t.test('where nothing is configured, the answer names each way', async (t) => {
  const said =
    (await chatWithoutKeys(t))
      .trim()
      .split('\n')
      .find((line) => line.startsWith('{')) ?? '';
  t.match(parseJson(said), {
    code: 'ADAPTER_NOT_CONFIGURED',
    message: /auth\.json.*AWS_ACCESS_KEY_ID.*AWS_PROFILE.*AWS_BEARER_TOKEN_BEDROCK/,
  });
});
