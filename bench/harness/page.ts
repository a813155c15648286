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

const HOW_TO_READ = `Every figure has two others beside it from the same minutes: the **direct** call to the same provider, and the same call through a bare
**pipe** (\`node:http\` in, undici out, nothing read). The rounds of all of them take turns. Compare within a row or by the ratio to the pipe; the
absolute figures belong to the machine, which also runs the load and the mock of the provider.

The gateway is the built server with its default settings: token, validation, queue, egress rule and log on. Processor time is what the operating
system counts for its process alone, all threads. The provider is a mock that answers at once. An answer counts when it was right: the whole text, or all
frames in their order and the end mark.

Not measured: TLS to a provider and its true delays, tool calls and long conversations, blocks and their monitors, several gateways on one machine, many days of
work, Windows and macOS.`;

export function toPage(machine: Machine, results: readonly Result[]): string {
  const parts = results.map(toMarkdown);
  return ['# Performance', `Written by \`npm run bench -- --record\`: ${machineText(machine)}.`, HOW_TO_READ, ...parts, ''].join('\n\n').replace(/\n+$/, '\n');
}
