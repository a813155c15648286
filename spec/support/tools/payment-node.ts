// A server for the kill rig, in a process of its own: blocks that pay, until each message has its outcome. At a named point it ends itself with SIGKILL, as if the
// machine had done it. Its only argument is JSON (NodeOptions).
import { createOllama } from '../../../adapters/ollama/index.ts';
import { connectStore, createCore } from '../../../core/index.ts';
import { PostgresRuns } from '../../../core/store/postgres/runs.ts';
import { hookJournals } from './journal-hooks.ts';
import { BANK, PAY_ASKED, PAY_LATER, PaymentHost } from './payment-host.ts';
import type { NodeOptions, Point } from './payment-node-options.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as NodeOptions;
let left = options.times;

function at(point: Point): void {
  if (point !== options.point) return;
  left -= 1;
  if (left <= 0) process.kill(process.pid, 'SIGKILL');
}

const kinds = (text: string): string[] => text.split('\n').flatMap((line) => /^\{"t":"(\w+)"/.exec(line)?.[1] ?? []);

const hooked = options.store === undefined ? hookFiles() : hookDatabase();
await hooked;

function hookFiles(): Promise<unknown> {
  return hookJournals({
    onWrite(text) {
      const has = (kind: string): boolean => kinds(text).includes(kind);
      if (has('answer')) at('before-answer-record');
      if (has('call')) at('before-call-record');
      if (has('result')) at('before-result-record');
      if (has('task')) at('before-task-record');
      for (const kind of ['input', 'ask', 'decision'] as const) if (has(kind)) at(`before-${kind}-record`);
      if (has('call') && options.point === 'torn-call-record' && left === 1) return Math.floor(text.length / 2);
      if (has('call') && options.point === 'torn-call-record') left -= 1;
      return undefined;
    },
    onTorn: () => at('torn-call-record'),
    onSynced(text) {
      if (kinds(text).includes('task')) at('after-task-record');
      if (kinds(text).includes('result')) at('after-result-record');
      if (kinds(text).includes('end')) at('after-end-record');
      for (const kind of ['input', 'ask', 'decision'] as const) if (kinds(text).includes(kind)) at(`after-${kind}-record`);
    },
  });
}

/** Around the statement that appends. In place of a torn record, the statement is on its way when the server ends. */
async function hookDatabase(): Promise<void> {
  const proto = PostgresRuns.prototype;
  const { appendSteps } = proto;
  proto.appendSteps = async function (claim, messageId, from, records) {
    const has = (kind: string): boolean => records.some((record) => record.t === kind);
    if (has('answer')) at('before-answer-record');
    if (has('call')) at('before-call-record');
    if (has('result')) at('before-result-record');
    if (has('task')) at('before-task-record');
    const appended = appendSteps.call(this, claim, messageId, from, records);
    if (has('call')) setImmediate(() => at('torn-call-record'));
    await appended;
    if (has('task')) at('after-task-record');
    if (has('result')) at('after-result-record');
    if (has('end')) at('after-end-record');
  };
}

const host = new PaymentHost({
  book: options.book,
  server: options.server,
  tools: [...BANK, PAY_LATER, PAY_ASKED],
  onBefore: ({ input }) => at(input === undefined ? 'before-bytes-leave' : 'before-answer-leaves'),
  onAfter: ({ input }) => at(input === undefined ? 'after-effect' : 'after-answer-effect'),
  onAsked: () => at('in-task'),
});
const { store, leaseMs } = options;
const core = createCore({
  workspace: options.workspace,
  adapters: [createOllama()],
  env: { OLLAMA_BASE_URL: options.daemon },
  tools: host,
  ...(store !== undefined && { store: await connectStore(store, { leaseMs }) }),
});
await core.start();
const known = new Set((await core.blocks.list()).map(({ name }) => name));
// On a busy machine, attempts are killed before they get on.
const config = { adapter: { provider: 'ollama', model: 'm' }, tools: { servers: ['bank'], allow: ['bank/*'] }, retry: { maxAttempts: 10 } };
for (const name of options.blocks) {
  if (!known.has(name)) await core.blocks.create({ name, config }).catch(unlessThere);
  for (const message of options.messages) await core.blocks.post(name, { message: `${name}: ${message}`, clientId: message }, 'api');
  await core.blocks.start(name);
}
process.stdout.write('ready\n');

/** The other server may have made it meanwhile. */
function unlessThere(error: unknown): void {
  if ((error as { code?: string }).code !== 'NAME_TAKEN') throw error;
}

const isOver = async (): Promise<boolean> => {
  for (const name of options.blocks) {
    const entries = await core.blocks.history(name);
    if (entries.some(({ role, status }) => role === 'user' && (status === 'queued' || status === 'processing' || status === 'waiting-approval'))) return false;
  }
  return true;
};
/** Answers what is shown. Who is late hears that it was decided, or that its message is over. */
async function answerForms(): Promise<void> {
  const { approvals } = await core.blocks.approvals();
  for (const { id, digest } of approvals) {
    const input = { who: { action: 'accept' as const, content: { name: id } } };
    await core.blocks.decideApproval(id, { decision: 'approve', digest, input }, { channel: 'cli', name: 'rig' }).catch((error: unknown) => {
      if (!['APPROVAL_DECIDED', 'APPROVAL_NOT_FOUND'].includes((error as { code?: string }).code ?? '')) throw error;
    });
  }
}
while (!(await isOver())) {
  if (options.answersForms === true) await answerForms();
  await new Promise((resolve) => setTimeout(resolve, store === undefined ? 10 : 50));
}
process.stdout.write('over\n');
await core.close();
