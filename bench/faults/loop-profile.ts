// What a stretch of this process's loop was spent on: samples of V8's profiler, by the functions of the product.
import { Session } from 'node:inspector/promises';

const SAMPLE_MICROSECONDS = 250;
/** Smaller shares are left out. */
const SHOWN = 0.06;

interface Node {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[] | undefined;
}

/** A profile that runs. */
export class LoopProfile {
  readonly #session: Session;

  private constructor(session: Session) {
    this.#session = session;
  }

  static async start(): Promise<LoopProfile> {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
    await session.post('Profiler.start');
    return new LoopProfile(session);
  }

  /** A tree of calls as lines, of what ran between two times in microseconds of the monotonic clock. */
  async end([from, to]: readonly [number, number]): Promise<string[]> {
    const { profile } = await this.#session.post('Profiler.stop');
    this.#session.disconnect();
    const nodes = new Map<number, Node>(profile.nodes.map((node) => [node.id, node]));
    const own = new Map<number, number>();
    let at = profile.startTime;
    for (const [index, id] of (profile.samples ?? []).entries()) {
      const passed = profile.timeDeltas?.[index] ?? 0;
      at += passed;
      if (at > from && at <= to + passed) own.set(id, (own.get(id) ?? 0) + passed);
    }
    const whole = new Map<number, number>();
    const sum = (id: number): number => {
      let total = own.get(id) ?? 0;
      for (const child of nodes.get(id)?.children ?? []) total += sum(child);
      whole.set(id, total);
      return total;
    };
    const [root] = profile.nodes;
    if (root === undefined) return [];
    const all = sum(root.id);
    const lines: string[] = [];
    const show = (id: number, depth: number): void => {
      const node = nodes.get(id);
      const time = whole.get(id) ?? 0;
      if (node === undefined || time < all * SHOWN) return;
      const { functionName, url, lineNumber } = node.callFrame;
      lines.push(
        `${' '.repeat(depth)}${(time / 1000).toFixed(0)} ms (own ${((own.get(id) ?? 0) / 1000).toFixed(0)}) ${functionName} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`,
      );
      for (const child of [...(node.children ?? [])].sort((a, b) => (whole.get(b) ?? 0) - (whole.get(a) ?? 0))) show(child, depth + 1);
    };
    show(root.id, 0);
    return lines;
  }
}
