// A primary and its workers as cores of one process: what they say goes through JSON, a turn later, as between processes.
import type { Test } from 'tap';
import type { CoreOptions } from '../../core/index.ts';
import { type Core, createPrimaryCore, createWorkerCore } from '../../core/runtime.ts';
import type { ProcessLine, WorkerHost } from '../../core/workers/line.ts';
import { type Step, type SteppedAdapter, steppedAdapter } from './stepped-adapter.ts';
import { testFolder } from './test-folder.ts';

/** Two ends of a line. What is sent after `cut` arrives nowhere; what was sent before does. */
export function linePair(): { readonly ends: readonly [ProcessLine, ProcessLine]; cut(): void } {
  let isCut = false;
  const listeners: ((message: unknown) => void)[][] = [[], []];
  const end = (own: number): ProcessLine => ({
    send: (message) => {
      if (isCut) return;
      const text = JSON.stringify(message);
      setImmediate(() => {
        for (const listener of listeners[1 - own] ?? []) listener(JSON.parse(text));
      });
    },
    onMessage: (listener) => void listeners[own]?.push(listener),
  });
  return {
    ends: [end(0), end(1)],
    cut: () => {
      isCut = true;
    },
  };
}

export interface WorkerOfTest {
  readonly core: Core;
  readonly adapter: SteppedAdapter;
  log(lines: readonly string[]): void;
  /** As a kill would end it. */
  kill(): Promise<void>;
}

export interface Workers {
  readonly workspace: string;
  readonly core: Core;
  readonly primary: WorkerHost;
  readonly workers: readonly [WorkerOfTest, WorkerOfTest];
  readonly lines: string[];
}

/** A primary and two workers, each with an adapter that does what `steps` say. */
export async function startWorkers(t: Test, steps: readonly Step[], options: Partial<CoreOptions> = {}): Promise<Workers> {
  const workspace = testFolder(t);
  const lines: string[] = [];
  const optionsOf = (): CoreOptions & { readonly adapters: readonly [SteppedAdapter] } => ({
    workspace,
    env: { STEPPED_API_KEY: 'k' },
    random: () => 0,
    ...options,
    adapters: [steppedAdapter(steps, { pricesAs: 'openai' })],
  });
  const { core, primary } = await createPrimaryCore(optionsOf(), (more) => lines.push(...more));
  await core.start();
  await core.token?.ensure();
  const begin = async (): Promise<WorkerOfTest> => {
    const { ends, cut } = linePair();
    const gone = primary.add(ends[0]);
    const own = optionsOf();
    const worker = await createWorkerCore(own, ends[1]);
    await worker.start();
    let isKilled = false;
    const kill = async (): Promise<void> => {
      isKilled = true;
      cut();
      await new Promise((resolve) => setImmediate(resolve));
      gone();
    };
    t.teardown(() => isKilled || worker.core.close());
    return { ...worker, adapter: own.adapters[0], kill };
  };
  const workers = [await begin(), await begin()] as const;
  t.teardown(async () => {
    primary.close();
    await core.close();
  });
  return { workspace, core, primary, workers, lines };
}
