// How the process itself does: processor, memory, event loop.
//
// lazy-delay: the delay of the event loop is measured from the first scrape on, because that needs a timer.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { LabelValues } from './exposition.ts';
import type { FamilyKey } from './families.ts';

type Samples = Iterable<readonly [LabelValues, number]>;

/** How often the event loop is looked at. */
const LOOK_MS = 20;

/** The figures of this process. */
export class ProcessFigures {
  #delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #loop = performance.eventLoopUtilization();

  *families(): Generator<readonly [FamilyKey, Samples]> {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    yield ['cpuSeconds', one((user + system) / 1e6)];
    yield ['residentBytes', one(rss)];
    yield ['startSeconds', one(performance.timeOrigin / 1000)];
    yield ['heapUsedBytes', one(heapUsed)];
    yield ['heapTotalBytes', one(heapTotal)];
    yield ['externalBytes', one(external)];
    const loop = performance.eventLoopUtilization();
    yield ['loopBusy', one(performance.eventLoopUtilization(loop, this.#loop).utilization)];
    this.#loop = loop;
    const delay = this.#delay;
    if (delay === undefined) {
      this.#delay = monitorEventLoopDelay({ resolution: LOOK_MS }); // lazy-delay
      this.#delay.enable();
      return;
    }
    yield ['loopP50', one(lateSeconds(delay.percentile(50)))];
    yield ['loopP99', one(lateSeconds(delay.percentile(99)))];
    yield ['loopMax', one(lateSeconds(delay.max))];
    delay.reset();
  }
}

/** Of the time between two looks, what is too much. */
function lateSeconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - LOOK_MS / 1000);
}

function one(value: number): Samples {
  return [[[], value]];
}
