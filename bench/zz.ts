import { toText } from './harness/report.ts';
const which = process.argv[2];
const m: any = await import(`./${which}.bench.ts`);
const opts: any = { request: { rounds: 2, ms: 400, concurrencies: [1, 64] }, stream: { rounds: 1, ms: 400, framings: ['openai-chat', 'bedrock'] }, frames: { rounds: 1, ms: 500, framings: ['openai-chat', 'anthropic'] }, memory: { many: 5000, manyMs: 5000 } };
const t0 = performance.now();
console.log(toText(await m.run(opts[which!])));
console.log((performance.now() - t0) / 1000, 's');
