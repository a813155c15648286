// Keys from AWS's own provider chain, waited for within the limits of the call that needs them.
//
// one-chain: the chain of a profile is loaded once, and asked for each look-up; it keeps what it found until that expires.
// unending: a look-up can't be ended from here: a helper process, a sign-in, a metadata service take the time they take. So a call waits for it
//    no longer than its limit, its caller and `close` allow. The look-up goes on, and serves the calls that come meanwhile.
// clean-exit: a call that no longer waits leaves nothing behind: no timer, no listener, no place among those who wait.
import { type AdapterCall, BlockhouseError } from '../../core/index.ts';
import { closing } from '../connection-errors.ts';
import { redact } from '../redact.ts';
import { cancelled } from '../upstream-call.ts';
import type { AwsKeys } from './sign.ts';

const WAYS =
  'store keys with `blockhouse auth set bedrock` (bedrock.accessKeyId and bedrock.secretAccessKey in auth.json), set AWS_ACCESS_KEY_ID and ' +
  'AWS_SECRET_ACCESS_KEY, name a profile of ~/.aws in AWS_PROFILE, set AWS_BEARER_TOKEN_BEDROCK, or send config.accessKeyId and config.secretAccessKey';

/** One link of AWS's making: finds keys and caches them until they expire. */
export type KeyProvider = () => Promise<AwsKeys>;

/** One call that waits; whichever comes first counts. */
interface Waiter {
  found(keys: AwsKeys): void;
  failed(error: BlockhouseError): void;
}

export class ProviderChain {
  readonly #load: (profile: string | undefined) => Promise<KeyProvider>;
  readonly #providers = new Map<string | undefined, Promise<KeyProvider>>();
  /** Who waits for the look-up that is under way, by its profile. */
  readonly #waiting = new Map<string | undefined, Set<Waiter>>();
  #isClosed = false;

  constructor(load = loadAwsChain) {
    this.#load = load;
  }

  /** Rejects with ADAPTER_NOT_CONFIGURED when there are none, and when the limit ends the wait (unending) with UPSTREAM_TIMEOUT, CANCELLED or SHUTTING_DOWN. */
  find(profile: string | undefined, { timeouts, signal }: Pick<AdapterCall, 'timeouts' | 'signal'>): Promise<AwsKeys> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closing());
      if (signal.aborted) return reject(cancelled(signal.reason));
      const waiters = this.#waiting.get(profile) ?? this.#lookUp(profile);
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        waiters.delete(waiter);
      };
      const waiter: Waiter = {
        found: (keys) => {
          leave();
          resolve(keys);
        },
        failed: (error) => {
          leave();
          reject(error);
        },
      };
      const onAbort = (): void => waiter.failed(cancelled(signal.reason));
      // Nothing has been sent yet, so it is the limit for getting through to the provider, and not the one for a model that thinks.
      const { connectMs } = timeouts;
      const timer = connectMs === 0 ? undefined : setTimeout(() => waiter.failed(tooSlow(profile, connectMs)), connectMs);
      signal.addEventListener('abort', onAbort, { once: true });
      waiters.add(waiter);
    });
  }

  /** Ends every wait. A look-up that is under way is left alone (unending). */
  close(): void {
    this.#isClosed = true;
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.failed(closing());
  }

  #lookUp(profile: string | undefined): Set<Waiter> {
    const waiters = new Set<Waiter>();
    this.#waiting.set(profile, waiters);
    const end = (tell: (waiter: Waiter) => void): void => {
      this.#waiting.delete(profile);
      for (const waiter of waiters) tell(waiter);
    };
    this.#ask(profile).then(
      (keys) => end((waiter) => waiter.found(keys)),
      (error: unknown) => end((waiter) => waiter.failed(notFound(error))),
    );
    return waiters;
  }

  /** one-chain. */
  async #ask(profile: string | undefined): Promise<AwsKeys> {
    const provider = this.#providers.get(profile) ?? this.#load(profile);
    this.#providers.set(profile, provider);
    return (await provider)();
  }
}

function notFound(error: unknown): BlockhouseError {
  const reason = redact(error instanceof Error ? error.message : String(error), []).replace(/\.$/, '');
  return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `No AWS credentials were found (${reason}): ${WAYS}.`, { cause: error, retryable: false });
}

/** Not ADAPTER_NOT_CONFIGURED: what is slow may answer yet, and nobody has to change a setting for it. */
function tooSlow(profile: string | undefined, ms: number): BlockhouseError {
  const whose = profile === undefined ? 'the default profile' : `profile ${profile}`;
  return new BlockhouseError(
    'UPSTREAM_TIMEOUT',
    `AWS's credential chain found no credentials for ${ms / 1000} s. See that what it asks answers (for ${whose}: a credential_process, a sign-in, a role, a ` +
      `metadata service), or allow it more time (BLOCKHOUSE_CONNECT_TIMEOUT_MS); or do without it: ${WAYS}.`,
  );
}

/** The chain would write its remarks on the console. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * AWS's own chain: environment, SSO, files, processes, web identity, container and instance metadata. It reads `process.env`
 * and talks to AWS's own hosts itself, which is the point of it: credentials are found as with every other AWS tool.
 */
async function loadAwsChain(profile: string | undefined): Promise<KeyProvider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider({ logger: SILENT, ...(profile !== undefined && { profile }) });
}
