import { getEventListeners } from 'node:events';
import t from 'tap';
import { type KeyProvider, ProviderChain } from '../../../adapters/bedrock/chain.ts';
import type { AwsKeys } from '../../../adapters/bedrock/sign.ts';
import type { BlockhouseError } from '../../../core/index.ts';
import { adapterCall } from '../../support/adapter-call.ts';

const KEYS: AwsKeys = { accessKeyId: 'AKIDCHAIN', secretAccessKey: 'secret', sessionToken: 'token' };

/** A chain whose look-ups end when the test says so. */
function slowChain() {
  const lookUps: { find(keys: AwsKeys): void; fail(error: Error): void }[] = [];
  const ask: KeyProvider = () => new Promise((find, fail) => lookUps.push({ find, fail }));
  return { chain: new ProviderChain(async () => ask), lookUps };
}

/** Lets everything go on that waits for nothing but its turn. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const failureOf = (work: Promise<unknown>): Promise<BlockhouseError> =>
  work.then(
    () => t.fail('it succeeded'),
    (error: unknown) => error,
  ) as Promise<never>;
const timerCount = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

t.test('the chain is loaded once for each profile, and asked each time', async (t) => {
  const loads: (string | undefined)[] = [];
  let asked = 0;
  const chain = new ProviderChain(async (profile) => {
    loads.push(profile);
    return async () => {
      asked += 1;
      return { ...KEYS, accessKeyId: `AKID-${profile}` };
    };
  });
  t.match(await chain.find(undefined, adapterCall()), { accessKeyId: 'AKID-undefined' });
  await chain.find(undefined, adapterCall());
  t.match(await chain.find('work', adapterCall()), { accessKeyId: 'AKID-work', sessionToken: 'token' });
  t.same(loads, [undefined, 'work']);
  t.equal(asked, 3);
});

t.test('a chain that finds nothing is told with each way to configure it', async (t) => {
  for (const fails of ['when it is asked', 'when it is loaded']) {
    const fail = async (): Promise<never> => {
      throw new Error('Could not load credentials from any providers.');
    };
    const chain = new ProviderChain(fails === 'when it is loaded' ? fail : async () => fail);
    const failure = await failureOf(chain.find(undefined, adapterCall()));
    t.match(failure, { code: 'ADAPTER_NOT_CONFIGURED', status: 503, retryable: false }, fails);
    for (const way of ['auth.json', 'blockhouse auth set bedrock', 'AWS_ACCESS_KEY_ID', 'AWS_PROFILE', '~/.aws', 'AWS_BEARER_TOKEN_BEDROCK']) {
      t.ok(failure.message.includes(way), way);
    }
    t.match(failure.message, 'Could not load credentials from any providers)');
  }
});

t.test('a chain whose package is not installed names the package, the command that installs it, and the ways without it', async (t) => {
  const missing = Object.assign(new Error("Cannot find package '@aws-sdk/credential-provider-node'"), { code: 'ERR_MODULE_NOT_FOUND' });
  const chain = new ProviderChain(() => Promise.reject(missing));
  for (const [profile, what] of [
    [undefined, /^No AWS keys are set/],
    ['work', /^The AWS profile work needs/],
  ] as const) {
    const failure = await failureOf(chain.find(profile, adapterCall()));
    t.match(failure, { code: 'ADAPTER_NOT_CONFIGURED', retryable: false, message: what, cause: missing });
    for (const part of ['`npm install @aws-sdk/credential-provider-node`', 'blockhouse auth set bedrock', 'AWS_ACCESS_KEY_ID', 'AWS_BEARER_TOKEN_BEDROCK'])
      t.ok(failure.message.includes(part), part);
    t.notMatch(failure.message, 'AWS_PROFILE', 'a profile would need the package, too');
  }
});

t.test('a look-up that hangs holds a call no longer than its limit for connecting, and the error names the cures', async (t) => {
  const { chain } = slowChain();
  const failure = await failureOf(chain.find('work', adapterCall({ timeouts: { connectMs: 20, firstByteMs: 0 } })));
  t.match(failure, { code: 'UPSTREAM_TIMEOUT', retryable: true, mayHaveRun: false });
  for (const cure of ['0.02 s', 'profile work', 'credential_process', 'BLOCKHOUSE_CONNECT_TIMEOUT_MS', 'blockhouse auth set bedrock']) {
    t.ok(failure.message.includes(cure), cure);
  }
  t.match(await failureOf(chain.find(undefined, adapterCall({ timeouts: { connectMs: 1 } }))), { message: /default profile/ });
});

t.test('a limit of 0 is none', async (t) => {
  const { chain, lookUps } = slowChain();
  const before = timerCount();
  const found = chain.find(undefined, adapterCall({ timeouts: { connectMs: 0 } }));
  t.equal(timerCount(), before);
  await turn();
  lookUps[0]?.find(KEYS);
  t.equal(await found, KEYS);
});

t.test('a caller who leaves does not wait, and one who has left asks nobody', async (t) => {
  const { chain, lookUps } = slowChain();
  const caller = new AbortController();
  const failure = failureOf(chain.find(undefined, adapterCall({ signal: caller.signal })));
  await turn();
  caller.abort(new Error('gone'));
  t.match(await failure, { code: 'CANCELLED', cause: { message: 'gone' } });
  t.match(await failureOf(chain.find('other', adapterCall({ signal: caller.signal }))), { code: 'CANCELLED' });
  await turn();
  t.equal(lookUps.length, 1);
});

t.test('closing ends every wait, and none begins after it', async (t) => {
  const { chain, lookUps } = slowChain();
  const failures = [undefined, undefined, 'work'].map((profile) => failureOf(chain.find(profile, adapterCall())));
  await turn();
  chain.close();
  for (const failure of await Promise.all(failures)) t.match(failure, { code: 'SHUTTING_DOWN', retryable: false });
  t.match(await failureOf(chain.find(undefined, adapterCall())), { code: 'SHUTTING_DOWN' });
  await turn();
  t.equal(lookUps.length, 2);
});

t.test('calls share the look-up that is under way, also one that others gave up', async (t) => {
  const { chain, lookUps } = slowChain();
  await failureOf(chain.find(undefined, adapterCall({ timeouts: { connectMs: 1 } })));
  const later = [chain.find(undefined, adapterCall()), chain.find(undefined, adapterCall())];
  await turn();
  t.equal(lookUps.length, 1);
  lookUps[0]?.find(KEYS);
  t.same(await Promise.all(later), [KEYS, KEYS]);
  const again = failureOf(chain.find(undefined, adapterCall()));
  await turn();
  t.equal(lookUps.length, 2, 'what is over is shared no more');
  lookUps[1]?.fail(new Error('expired'));
  t.match(await again, { code: 'ADAPTER_NOT_CONFIGURED', message: /expired/ });
});

t.test('whoever has left leaves no timer and no listener behind', async (t) => {
  const before = timerCount();
  const ends: [how: string, end: (made: ReturnType<typeof slowChain>, caller: AbortController) => void][] = [
    ['with keys', ({ lookUps }) => lookUps[0]?.find(KEYS)],
    ['with a failure', ({ lookUps }) => lookUps[0]?.fail(new Error('none'))],
    ['as the caller left', (_made, caller) => caller.abort()],
    ['by closing', ({ chain }) => chain.close()],
  ];
  for (const [how, end] of ends) {
    const made = slowChain();
    const caller = new AbortController();
    const ended = made.chain.find(undefined, adapterCall({ signal: caller.signal })).catch(() => undefined);
    t.equal(timerCount(), before + 1, `the limit runs: ${how}`);
    t.equal(getEventListeners(caller.signal, 'abort').length, 1);
    await turn();
    end(made, caller);
    await ended;
    t.equal(timerCount(), before, how);
    t.equal(getEventListeners(caller.signal, 'abort').length, 0, how);
  }
});
