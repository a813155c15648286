// How a server does, looked at and not only said: its disk, its database, and how the last calls of each provider ended. Asks no provider.
//
// one-look: who asks while a look is under way gets its result, so that many who ask write no more than one.
import { randomUUID } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { toBlockhouseError } from './errors.ts';
import type { EndedCall } from './gateway/meter.ts';
import type { StoreHealth } from './store/store.ts';
import type { DeepHealth, ShownConnection } from './types.ts';

/** A disk that takes longer is as good as none. */
const PATIENCE_MS = 5000;

/** The core that is looked at. */
export interface Examined {
  readonly workspace: string | undefined;
  readonly version: string;
  readonly storeHealth: StoreHealth | undefined;
  readonly connections: { list(): readonly ShownConnection[] };
  /** The newest first. */
  readonly meter: { ended(): readonly EndedCall[] };
}

const looks = new Map<string, Promise<DeepHealth['disk']>>();

/** `failing` if the disk or the database can't be used, `degraded` if a provider with calls can't, else `ok`. */
export async function deepHealth({ workspace, version, storeHealth, connections, meter }: Examined): Promise<DeepHealth> {
  if (workspace === undefined) throw new Error('This look needs a workspace: createCore({ workspace, … }).');
  const disk = await diskOf(workspace); // one-look
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

/** Writes some bytes to the disk, flushes them, and takes them away. */
async function lookAtDisk(workspace: string): Promise<DeepHealth['disk']> {
  const path = join(workspace, `.health-${randomUUID()}.tmp`);
  const begin = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The disk did not take a few bytes within ${PATIENCE_MS / 1000} s.`)), PATIENCE_MS);
  });
  try {
    await Promise.race([writeThrough(path), late]);
    const { bavail, bsize } = await Promise.race([statfs(workspace), late]);
    return { freeBytes: bavail * bsize, writeMs: Math.round(performance.now() - begin), error: null };
  } catch (error) {
    return { freeBytes: null, writeMs: null, error: toBlockhouseError(error).code === 'STORAGE_FULL' ? 'The disk is full.' : (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}

async function writeThrough(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile('ok\n');
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/** By the calls that this process still knows: some hundreds of all providers together. */
function providerOf({ name, ready, breaker }: ShownConnection, ended: readonly EndedCall[]): DeepHealth['providers'][number] {
  const own = ended.filter(({ fact }) => fact.adapter === name && fact.code !== 'CANCELLED' && fact.attempts > 0);
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

function timeOf(call: EndedCall | undefined): string | null {
  return call === undefined ? null : new Date(call.at).toISOString();
}
