// The page of figures, and what its figures were measured on.
import { cpus, release, totalmem } from 'node:os';
import { type Result, toMarkdown } from './report.ts';

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly date: string;
}

const GIB = 1024 ** 3;

export function thisMachine(): Machine {
  const processors = cpus();
  return {
    node: process.version,
    platform: `${process.platform} ${release()} ${process.arch}`,
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / GIB),
    date: new Date().toISOString().slice(0, 10),
  };
}

export function machineText({ node, platform, processor, cores, memoryGiB, date }: Machine): string {
  return `${date}, Node ${node}, ${platform}, ${cores} × ${processor}, ${memoryGiB} GiB`;
}

const HOW_TO_READ = `How much time and memory the gateway costs. For contributors, and for people who compare gateways. \`npm run bench -- --record\` writes this page.

Each figure is compared with a bare **pipe**: a proxy of \`node:http\` and undici that reads nothing of what it passes on. Pipe and gateway take turns within the same minutes, so that both
stay warm. Compare the ratios: the absolute figures depend on the machine, which also runs the load and the mock of the provider. A ratio is the median of the rounds of one run. Where there
are three runs, the tables of targets show the **worst** of them, and the other tables the last one.

The gateway is the built server with its default settings: token, validation, queue, egress rule and log are on. Processor time is what the operating system counts for its process, all
threads included. The provider is a mock that answers at once. An answer counts only if it is right: the whole text, or all frames in order and the end mark. (\`wrk\` counts each 200.)

Not measured: TLS to a provider and the provider's delays, tool calls and long conversations, blocks and their monitors, several gateways on one machine, many days of work, Windows and
macOS.`;

const OF_KEYS = `## What do the limits of a key cost?

| a small request | processor time, 27 November 2026 | before | target |
| --- | --- | --- | --- |
| of a key with a cap, beside a key without limits | 1.03 to 1.04 times on a quiet machine, 1.02 on one whose two cores 25 programs wanted (missed) | 1.30 times | 1.02 times |
| of a key with every limit, a group and a list of models, beside the token of the workspace | 1.10 to 1.11 times on a quiet machine, 1.08 on the busy one (missed) | 1.91 times | 1.08 times |
| of a connection, beside the adapter that it is made of | 0.99 to 1.02 times | 1.02 times | 1.03 times |
| of a connection with four keys and 1,000 conversations, beside the same requests without it | 1.03 to 1.04 times; 1.06 to 1.08 where only their beginnings tell them apart | | 1.08 times |

\`npx tsx bench/check.ts --keys\` measures it: two callers take short turns at one server, in fours (A B B A), and the median of the quieter half of the ratios counts. Where there were two measurements, it is the lower one. Where there are two figures, the machine had two
cores that fifteen other programs wanted at the one, and was nearly quiet at the other. Those of the two keys are of 28 November 2026. A cap costs about one microsecond in the core: what the
call may use is added to what is under way and covered by the journal, and what it has used is counted for the key. That an answer is read on if its client leaves costs nothing before one does. The other limits cost mostly the
headers that tell what is left (six in each answer, whose names alone Node checks for half a microsecond or more), and the sums of the group. A key is hashed when it comes for the first time, and found as it was presented after that.`;

const OF_TRACES = `## What do traces cost?

| a small request, beside one without traces and metrics over OTLP | processor time, 28 November 2026 | before | target |
| --- | --- | --- | --- |
| of which all are recorded | 1.20 times on a quiet machine, 1.17 to 1.28 on a busy one (missed) | 1.47 times | 1.15 times |
| of which a tenth is recorded | 1.09 times | | |
| of which none is recorded | 1.07 times | | |
| of another server without | 0.98 to 1.03 times | 0.98 times | 1.00 times |

\`npx tsx bench/tracing.bench.ts\` measures the first and the last, in turns as above. The machine had two cores that twenty to thirty other programs wanted, which makes it dearer: the collector takes a part of the cores and of their caches, too. A request of 46 µs
needed 10 µs more. The two spans of a request take 3 µs by themselves, made, written and sent (\`npx tsx bench/outside.bench.ts\`), where the packages alone took 12 to encode and send them.`;

/** A result, and when and on what machine it was measured. */
export interface Published extends Result {
  readonly measured: string;
}

export function toPage(results: readonly Published[]): string {
  const parts = results.map((result) => `${toMarkdown(result)}\n\n*\`npm run bench -- --record ${result.name}\`: ${result.measured}.*`);
  return ['# Performance', HOW_TO_READ, ...parts, OF_KEYS, OF_TRACES, ''].join('\n\n').replace(/\n+$/, '\n');
}
