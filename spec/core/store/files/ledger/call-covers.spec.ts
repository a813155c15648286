import t from 'tap';
import { CallCovers, type CoverLine, PEAK_TURNS } from '../../../../../core/store/files/ledger/call-covers.ts';
import type { GatewayCall, OpenCall } from '../../../../../core/store/port.ts';
import { Random } from '../../../../support/crash/random.ts';

const AT = '2026-11-22T12:00:00.000Z';
const usageOf = (tokens: number) => ({ inputTokens: Math.min(10, tokens), outputTokens: Math.max(0, tokens - 10), totalTokens: tokens });
const call = (id: number, key: string, model: string, tokens: number): OpenCall => ({
  id: String(id),
  at: AT,
  requestId: 'r',
  key,
  provider: 'p',
  model,
  usage: usageOf(tokens),
  costUsd: tokens / 1e6,
  error: 'SHUTTING_DOWN',
});
const ended = ({ requestId, key, provider, model }: OpenCall, tokens: number): GatewayCall => ({
  at: AT,
  requestId,
  key,
  provider,
  model,
  usage: usageOf(tokens),
  costUsd: tokens / 1e6,
  firstTextMs: null,
  durationMs: 1,
  error: null,
});

/** What the lines on a disk say, by key and model. */
class Disk {
  readonly #lines = new Map<string, OpenCall & { readonly isOver?: boolean }>();

  write(lines: readonly CoverLine[]): void {
    for (const { line, written } of lines) {
      this.#put(line);
      written();
    }
  }

  /** The disk is full after so many of the lines. */
  fail(lines: readonly CoverLine[], most: number): void {
    for (const { line } of lines.slice(0, most)) this.#put(line);
    for (const { failed } of lines) failed();
  }

  #put(line: string): void {
    const value = JSON.parse(line);
    this.#lines.set(value.id, value);
  }

  said(key: string, model: string): { readonly tokens: number; readonly usd: number } {
    const all = [...this.#lines.values()].filter((line) => line.isOver !== true && line.key === key && line.model === model);
    return { tokens: all.reduce((sum, line) => sum + line.usage.totalTokens, 0), usd: all.reduce((sum, line) => sum + (line.costUsd ?? 0), 0) };
  }
}

t.test(
  'whatever calls come, are noted again, end and are forgotten, also while the disk is full: it says no less than they may use, and soon at most twice that',
  async (t) => {
    const random = new Random(20_261_127);
    const covers = new CallCovers(() => Date.parse(AT));
    const disk = new Disk();
    const open: { call: OpenCall; tokens: number }[] = [];
    let [over, leaving]: { call: OpenCall; tokens: number }[][] = [[], []];
    const used = (key: string, model: string): number =>
      [...open, ...(over ?? []), ...(leaving ?? [])]
        .filter(({ call: one }) => one.key === key && one.model === model)
        .reduce((sum, { tokens }) => sum + tokens, 0);
    const faults: string[] = [];
    let [lines, ids] = [0, 0];
    for (let step = 0; step < 20_000; step += 1) {
      const kind = random.below(100);
      let isEnough = true;
      if (kind < 45) {
        ids += 1;
        const tokens = random.below(2000);
        const one = { call: call(ids, random.pick(['a', 'b']), random.pick(['m', 'n']), tokens), tokens };
        isEnough = covers.take(one.call);
        open.push(one);
      } else if (kind < 85 && open.length > 0) {
        const [one] = open.splice(random.below(open.length), 1) as [{ call: OpenCall; tokens: number }];
        one.tokens = random.below(3000);
        isEnough = covers.end(one.call, ended(one.call, one.tokens));
        over?.push(one);
      } else if (kind < 88 && open.length > 0) {
        const [one] = open.splice(random.below(open.length), 1) as [{ call: OpenCall; tokens: number }];
        covers.leave(one.call);
        if (covers.has(one.call)) faults.push(`step ${step}: it has a line of its own`);
      } else if (kind < 92) {
        covers.beginForget();
        [over, leaving] = [[], [...(leaving ?? []), ...(over ?? [])]];
      } else if (kind < 96) {
        covers.forget();
        leaving = [];
      } else if (kind < 97) {
        if (random.chance(0.3)) disk.fail(covers.turn(), random.below(4));
        else disk.write(covers.turn());
      } else if (open.length > 0) {
        const one = random.pick(open);
        const before = one.call;
        one.tokens = random.below(3000);
        one.call = { ...before, ...call(0, before.key, before.model, one.tokens), place: before.place };
        isEnough = covers.take(one.call, before);
      }
      if (!isEnough) {
        const short = covers.short();
        lines += short.length;
        disk.write(short);
      }
      for (const [key, model] of [
        ['a', 'm'],
        ['a', 'n'],
        ['b', 'm'],
        ['b', 'n'],
      ] as const) {
        const { tokens, usd } = disk.said(key, model);
        const least = used(key, model);
        if (tokens < least || usd < least / 1e6 - 1e-9) faults.push(`step ${step}: ${key}/${model} ${tokens} tokens, ${usd} USD of ${least}`);
      }
    }
    t.same(faults.slice(0, 3), []);
    t.ok(lines < ids / 10, `${lines} lines for ${ids} calls`);
    const endSpans = (): void => {
      for (let turn = 0; turn < 2 * PEAK_TURNS; turn += 1) disk.write(covers.turn());
    };
    endSpans();
    disk.write(covers.turn());
    for (const [key, model] of [
      ['a', 'm'],
      ['b', 'n'],
    ] as const)
      t.ok(disk.said(key, model).tokens <= 2 * used(key, model));
    for (const one of open) covers.end(one.call, ended(one.call, 0));
    covers.beginForget();
    covers.forget();
    t.equal(covers.size, 0);
    endSpans();
    disk.write(covers.turn());
    t.same(disk.said('a', 'm'), { tokens: 0, usd: 0 }, 'nothing stays');
  },
);

t.test('lines that could not be written, or are gone with their file, are not relied on', async (t) => {
  const covers = new CallCovers(() => Date.parse(AT));
  const disk = new Disk();
  t.equal(covers.take(call(1, 'a', 'm', 100)), false);
  t.equal(covers.take(call(2, 'a', 'm', 100)), false, 'the line of the first one was not written');
  disk.write(covers.short());
  t.equal(covers.take(call(3, 'a', 'm', 100)), true);
  t.match(JSON.parse(covers.all()), { key: 'a', model: 'm', usage: { totalTokens: 400 } });
  covers.lost();
  t.equal(covers.take(call(4, 'a', 'm', 100)), false);
});

t.test('of a line that could not be written, the disk may have all or nothing, so it is relied on for the least of both and written again', async (t) => {
  const covers = new CallCovers(() => Date.parse(AT));
  const disk = new Disk();
  const [many, few] = [Array.from({ length: 8 }, (_, index) => call(index, 'a', 'm', 100)), [call(8, 'a', 'm', 100), call(9, 'a', 'm', 100)]];
  for (const one of [...many, ...few]) covers.take(one);
  disk.write(covers.short());
  for (const one of many) covers.end(one, ended(one, 100));
  covers.beginForget();
  covers.forget();
  let failed = 0;
  for (let turn = 0; turn < 3 * PEAK_TURNS; turn += 1) {
    const lines = covers.turn();
    failed += lines.length;
    disk.fail(lines, turn % 2);
  }
  t.ok(failed > 1, `${failed} lines`);
  t.equal(covers.take(call(10, 'a', 'm', 1500)), false, 'the line before had room for it');
  disk.write(covers.short());
  t.equal(disk.said('a', 'm').tokens, 3400);
});

t.test('calls without a known price count in tokens, and those with a lowest price in USD, too', async (t) => {
  const covers = new CallCovers(() => Date.parse(AT));
  covers.take({ ...call(1, 'a', 'm', 100), costUsd: null });
  t.match(
    covers.short().map(({ line }) => JSON.parse(line)),
    [{ costUsd: null, usage: { totalTokens: 200 } }],
  );
  covers.take({ ...call(2, 'a', 'm', 100), costUsd: null, leastUsd: 3 });
  t.match(
    covers.short().map(({ line }) => JSON.parse(line)),
    [{ costUsd: 6, usage: { totalTokens: 400 } }],
  );
});
