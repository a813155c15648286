// Finds keys with AWS's own provider chain, within the time limits of the call that needs them.
//
// one-chain: the chain of a profile is loaded once and serves every look-up; it keeps the keys that it found until they expire.
// unending: a look-up can't be cancelled (a helper process, a sign-in, a metadata service), so a call stops waiting at its time limit, when its
//    caller leaves, or at `close`. The look-up continues and serves later calls.
// clean-exit: a call that stops waiting removes its timer, its listener and its place among the waiters.
import { type AdapterCall, BlockhouseError } from '../../core/index.ts';
import { cancelled } from '../outbound/call.ts';
import { closing } from '../outbound/connection-errors.ts';
import { redact } from '../../core/base/redact.ts';
import type { AwsKeys } from './sign.ts';

/** The package of AWS's chain: an optional peer, because it brings 16 MB that only users of profiles, SSO and roles need. */
const PACKAGE = '@aws-sdk/credential-provider-node';
const STORE = 'store keys with `blockhouse auth set bedrock` (bedrock.accessKeyId and bedrock.secretAccessKey in auth.json)';
const ENVIRONMENT = 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
const BEARER = 'or set AWS_BEARER_TOKEN_BEDROCK';
const WAYS = `${STORE}, ${ENVIRONMENT}, set AWS_PROFILE to a profile in ~/.aws, ${BEARER}`;

/** AWS's chain for one profile: finds keys and caches them until they expire. */
export type KeyProvider = () => Promise<AwsKeys>;

/** One call that waits. The first outcome settles it. */
interface Waiter {
  found(keys: AwsKeys): void;
  failed(error: BlockhouseError): void;
}

/** The keys that AWS's provider chain finds, one chain for each profile. One instance for each adapter. */
export class ProviderChain {
  readonly #load: (profile: string | undefined) => Promise<KeyProvider>;
  readonly #providers = new Map<string | undefined, Promise<KeyProvider>>();
  /** The calls that wait for a look-up, by profile. */
  readonly #waiting = new Map<string | undefined, Set<Waiter>>();
  #isClosed = false;

  constructor(load = loadAwsChain) {
    this.#load = load;
  }

  /**
   * Rejects with ADAPTER_NOT_CONFIGURED if AWS's chain finds no keys, with UPSTREAM_TIMEOUT after `timeouts.connectMs`, with CANCELLED if the
   * caller leaves, and with SHUTTING_DOWN after `close`.
   */
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
      // Nothing has been sent yet, so the limit for connecting applies, not the longer one for a model's first byte.
      const { connectMs } = timeouts;
      const timer = connectMs === 0 ? undefined : setTimeout(() => waiter.failed(tooSlow(profile, connectMs)), connectMs);
      signal.addEventListener('abort', onAbort, { once: true });
      waiters.add(waiter);
    });
  }

  /** Ends every wait with SHUTTING_DOWN. A look-up that has started continues. */
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
      (error: unknown) => end((waiter) => waiter.failed(isNotInstalled(error) ? withoutPackage(profile, error) : notFound(error))),
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
  return new BlockhouseError('ADAPTER_NOT_CONFIGURED', `No AWS credentials were found (${reason}): ${WAYS}.`, {
    cause: error,
    retryable: false,
    forKeys: `No AWS credentials were found on this server: ${WAYS}.`,
  });
}

/** Also true for a package that is there only in part: installing it is the cure for both. */
function isNotInstalled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

function withoutPackage(profile: string | undefined, cause: unknown): BlockhouseError {
  const wanted = profile === undefined ? 'No AWS keys are set, and a search in profiles, SSO, roles and metadata services' : `The AWS profile ${profile}`;
  return new BlockhouseError(
    'ADAPTER_NOT_CONFIGURED',
    `${wanted} needs the package ${PACKAGE}, which is not installed. Run \`npm install ${PACKAGE}\` where Blockhouse is installed (with -g if it is ` +
      `installed globally), and restart Blockhouse. To do without it, ${STORE}, ${ENVIRONMENT}, ${BEARER}.`,
    { cause, retryable: false, forKeys: 'This server has no AWS credentials.' },
  );
}

/** Not ADAPTER_NOT_CONFIGURED: a slow source may still answer later without any change of settings. */
function tooSlow(profile: string | undefined, ms: number): BlockhouseError {
  const whose = profile === undefined ? 'the default profile' : `profile ${profile}`;
  return new BlockhouseError(
    'UPSTREAM_TIMEOUT',
    `AWS's credential chain found no credentials within ${ms / 1000} s. Check its sources for ${whose} (a credential_process, a sign-in, a role, a ` +
      `metadata service), allow it more time with BLOCKHOUSE_CONNECT_TIMEOUT_MS, or use other credentials: ${WAYS}.`,
    { forKeys: `AWS's credential chain found no credentials within ${ms / 1000} s.` },
  );
}

/** By default the chain logs to the console. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * AWS's own chain: environment, SSO, files, processes, web identity, container and instance metadata. It reads `process.env`
 * and talks to AWS's own hosts itself, so it finds the credentials that every other AWS tool finds.
 */
async function loadAwsChain(profile: string | undefined): Promise<KeyProvider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider({ logger: SILENT, ...(profile !== undefined && { profile }) });
}
