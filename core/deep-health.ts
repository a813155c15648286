// How a server does, looked at and not only said: its disk, its database, and how the last calls of each provider ended. Asks no provider.
//
// one-look: who asks while a look is under way gets its result, so that many who ask write no more than one.
import type { Blocks } from './block/api.ts';
import type { EndedCall } from './gateway/meter.ts';
import { lookAtDisk } from './store/files/disk-look.ts';
import type { StoreHealth } from './store/store.ts';
import type { DeepHealth, ShownConnection } from './types.ts';

/** The core that is looked at. */
export interface Examined {
  readonly workspace: string | undefined;
  readonly version: string;
  readonly storeHealth: StoreHealth | undefined;
  readonly connections: { list(): readonly ShownConnection[] };
  /** The newest first. */
  readonly meter: { ended(): readonly EndedCall[] };
}

/** Of the blocks that wait for something, so many are asked what for. */
const MAX_EXPLAINED = 20;

const looks = new Map<string, Promise<DeepHealth['disk']>>();

/** What has the blocks. */
export interface ExaminedBlocks {
  /** False before its start. */
  readonly isOpen: boolean;
  readonly blocks: Pick<Blocks, 'list' | 'explain'>;
}

/** `failing` if the disk or the database can't be used, or blocks wait for it, `degraded` if a provider with calls can't, else `ok`. */
export async function deepHealth({ workspace, version, storeHealth, connections, meter }: Examined, session?: ExaminedBlocks): Promise<DeepHealth> {
  if (workspace === undefined) throw new Error('This look needs a workspace: createCore({ workspace, … }).');
  const looked = await diskOf(workspace); // one-look
  const isAsked = session?.isOpen === true && storeHealth?.isAway !== true; // a database that is away knows no blocks
  const held = isAsked ? await heldBlocks(session.blocks) : [];
  const disk = held.length === 0 ? looked : { ...looked, error: errorText(looked.error, held) };
  const ended = meter.ended();
  const providers = connections.list().map((connection) => providerOf(connection, ended));
  const store = storeHealth && { latencyMs: storeHealth.latencyMs, isAway: storeHealth.isAway, node: storeHealth.node, nodes: storeHealth.nodes };
  const isFailing = disk.error !== null || store?.isAway === true;
  const isDegraded = providers.some(({ state }) => state === 'failing' || state === 'paused');
  return { status: isFailing ? 'failing' : isDegraded ? 'degraded' : 'ok', version, disk, ...(store !== undefined && { store }), providers };
}

function diskOf(workspace: string): Promise<DeepHealth['disk']> {
  const look = looks.get(workspace) ?? lookAtDisk(workspace).finally(() => looks.delete(workspace));
  looks.set(workspace, look);
  return look;
}

function errorText(error: string | null, held: readonly string[]): string {
  return `${error === null ? '' : `${error}. `}These blocks wait until the disk takes what they write: ${held.join(', ')}.`;
}

/** The blocks that wait for the disk, which may take the few bytes of the look, and not what a block writes. */
export async function heldBlocks(blocks: ExaminedBlocks['blocks']): Promise<string[]> {
  const held: string[] = [];
  const waiting = (await blocks.list()).filter(({ state }) => state === 'backoff');
  for (const { name } of waiting.slice(0, MAX_EXPLAINED)) {
    const code = (await blocks.explain(name)).reason?.code;
    if (code === 'STORAGE_FULL' || code === 'STORAGE_FAILED') held.push(name);
  }
  return held;
}

/** By the calls that this process still knows: some hundreds of all providers together. */
function providerOf({ name, ready, breaker }: ShownConnection, ended: readonly EndedCall[]): DeepHealth['providers'][number] {
  const own = ended.filter(({ fact }) => fact.adapter === name && fact.attempts > 0 && tellsOfProvider(fact.code));
  const lastOk = own.find(({ fact }) => fact.code === undefined);
  const lastFailure = own.find(({ fact }) => fact.code !== undefined);
  const last = own[0]?.fact;
  const outcome = last === undefined ? 'unknown' : last.code === undefined ? 'ok' : 'failing';
  return {
    name,
    state: !ready ? 'not-set' : breaker === 'open' ? 'paused' : outcome,
    lastOkAt: timeOf(lastOk),
    lastFailureAt: timeOf(lastFailure),
    lastCode: lastFailure?.fact.code ?? null,
  };
}

/** What a provider refuses because of the request may be wrong with the request alone. */
function tellsOfProvider(code: EndedCall['fact']['code']): boolean {
  return code === undefined || (code.startsWith('UPSTREAM_') && code !== 'UPSTREAM_REJECTED');
}

function timeOf(call: EndedCall | undefined): string | null {
  return call === undefined ? null : new Date(call.at).toISOString();
}
