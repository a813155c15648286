// How soon does a started process answer, and what does it hold when nothing happens?
//
// Measured by harness/starts.ts. The bar is the ratio to a bare Node of the same run, because the milliseconds are those of the machine.
import { measureStarts } from './harness/starts.ts';
import { median, ratioOf, spreadOf } from './harness/stats.ts';

const ROUNDS = 15;

const { healthMs, bareNodeMs, idleRssMiB } = await measureStarts(ROUNDS);
const { median: healthMedian, high } = spreadOf(healthMs);
const result = {
  node: process.version,
  rounds: ROUNDS,
  healthMs: { median: healthMedian, worst: high },
  bareNodeMs: { median: median(bareNodeMs) },
  ratio: ratioOf(healthMs, bareNodeMs).median,
  idleRssMiB,
};
process.stdout.write(
  [
    `start to first healthy answer   ${healthMedian.toFixed(0)} ms (median of ${ROUNDS}), ${high.toFixed(0)} ms worst`,
    `bare node start and exit        ${result.bareNodeMs.median.toFixed(0)} ms (median)`,
    `the one beside the other        ${result.ratio.toFixed(2)} × bare node; bar 3 ×`,
    `resident memory, idle           ${idleRssMiB.toFixed(1)} MiB; bar 90 MB`,
    JSON.stringify(result),
    '',
  ].join('\n'),
);
