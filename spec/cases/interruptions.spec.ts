// A block whose message, reply and calls of tools are interrupted at random moments: by decisions, cancellations, stops and starts, the kill switch, other settings. When
// it is left in peace, each message comes to an outcome without anybody's help, and to one answer at most; and no program waits in vain.
//
// at-any-step: what interrupts comes a few turns of the event loop after something has happened, so that it meets each step of the block in time.
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { CoreEvents } from '../../core/index.ts';
import { Random } from '../support/crash/random.ts';
import { sweep } from '../support/sweep.ts';
import { pay } from '../support/tools/calls.ts';
import { type ToolCore, toolCore } from '../support/tools/tool-core.ts';
import { sought } from '../support/until.ts';

const ROUNDS = sweep(200, 5);
const FIRST_SEED = sweep(Number(process.env['BLOCKHOUSE_TEST_SEED'] ?? Date.now() % 100_000), 3);
const MAX_MESSAGES = 8;
const MAX_INTERRUPTIONS = 25;
const BY_TIME = 10;
const ME = { channel: 'cli', name: 'token' } as const;
const OUTCOMES: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled', 'expired']);
const AFTER: readonly (keyof CoreEvents)[] = [
  'block.transitioned',
  'message.queued',
  'message.started',
  'message.finished',
  'approval.requested',
  'approval.decided',
  'tool.called',
  'tool.finished',
  'call.started',
  'call.finished',
  'workspace.halted',
];
/** What comes together in a round. */
const KINDS: readonly (readonly Kind[])[] = [
  ['cancel', 'decide', 'post'],
  ['decide', 'post'],
  ['stop', 'start', 'post', 'decide'],
  ['settings', 'post', 'decide', 'cancel'],
  ['halt', 'release', 'post', 'decide', 'cancel'],
  ['retry', 'cancel', 'post', 'stop', 'start'],
  ['post', 'decide', 'cancel', 'stop', 'start', 'restart', 'settings', 'halt', 'release', 'retry', 'compact'],
];

type Kind = 'post' | 'decide' | 'cancel' | 'retry' | 'stop' | 'start' | 'restart' | 'halt' | 'release' | 'compact' | 'settings';
async function decideAll({ blocks }: ToolCore, decision: () => 'approve' | 'deny'): Promise<void> {
  for (const { id, digest } of (await blocks.approvals()).approvals) await blocks.decideApproval(id, { decision: decision(), digest }, ME);
}

/** What is posted, and the outcomes for which programs wait meanwhile. */
class Posted {
  readonly ids: string[] = [];
  readonly waits: Promise<unknown>[] = [];
  readonly #blocks: ToolCore['blocks'];

  constructor({ blocks }: ToolCore) {
    this.#blocks = blocks;
  }

  add(id: string): void {
    this.ids.push(id);
    this.waits.push(this.#blocks.answer('ada', id, { waitsForPeople: true }));
  }
}

/** What may interrupt; each may be refused. */
function interruptions(core: ToolCore, random: Random, posted: Posted): Readonly<Record<Kind, () => Promise<unknown>>> {
  const { blocks } = core;
  const any = (): string => random.pick(posted.ids);
  return {
    post: async () => {
      if (posted.ids.length < MAX_MESSAGES) posted.add((await blocks.post('ada', { message: random.pick(['Pay.', 'Hi.']) }, 'api')).id);
    },
    decide: () => decideAll(core, () => random.pick(['approve', 'deny'])),
    cancel: () => blocks.cancel('ada', any()),
    retry: () => blocks.retry('ada', any()),
    stop: () => blocks.stop('ada'),
    start: () => blocks.start('ada'),
    restart: () => blocks.restart('ada'),
    halt: () => blocks.halt(),
    release: () => blocks.unhalt(),
    compact: () => blocks.compact('ada'),
    settings: () => blocks.updateConfig('ada', { systemPrompt: `Be brief. ${random.next()}` }, {}),
  };
}

async function soon(random: Random): Promise<void> {
  for (let turns = random.below(6); turns > 0; turns -= 1) await turn();
}

async function interrupted(core: ToolCore, random: Random): Promise<Posted> {
  const posted = new Posted(core);
  posted.add(await core.post('Pay.'));
  const does = interruptions(core, random, posted);
  const kinds = random.pick(KINDS);
  const running: Promise<unknown>[] = [];
  const interrupt = (): void => void running.push(does[random.pick(kinds)]().catch(() => undefined));
  let left = MAX_INTERRUPTIONS;
  for (const name of AFTER)
    core.core.events.on(name, () => {
      if (left === 0 || random.chance(0.4)) return;
      left -= 1;
      running.push(soon(random).then(interrupt)); // at-any-step
    });
  for (let count = 0; count < BY_TIME; count += 1) {
    await delay(random.below(30));
    interrupt();
  }
  left = 0;
  while (running.length > 0) await Promise.all(running.splice(0));
  return posted;
}

/** Waits until each message has its outcome; calls are denied meanwhile. */
async function comesToRest(t: Test, core: ToolCore): Promise<void> {
  const { blocks } = core;
  await blocks.unhalt();
  const { state } = (await blocks.details('ada')).pulse;
  if (state === 'stopped' || state === 'stopping') await blocks.start('ada');
  let open: readonly string[] = [];
  const look = async (): Promise<true | undefined> => {
    await decideAll(core, () => 'deny').catch(() => undefined); // another look comes
    const messages = (await blocks.history('ada')).filter(({ role }) => role === 'user');
    open = messages.flatMap(({ status }) => (OUTCOMES.has(status) ? [] : [status]));
    return open.length === 0 ? true : undefined;
  };
  await sought(look, () => `messages are still ${open.join(', ')}`, 30_000);
  const answered = (await blocks.history('ada')).flatMap(({ replyTo }) => replyTo ?? []);
  t.equal(new Set(answered).size, answered.length, 'one answer each');
}

t.setTimeout(3_000_000);
for (let round = 0; round < ROUNDS; round += 1) {
  const seed = FIRST_SEED + round;
  t.test(`seed ${seed}: each message comes to its outcome`, async (t) => {
    const random = new Random(seed);
    const calls = (): ReturnType<typeof pay>[] => (random.chance(0.3) ? [pay('bob'), pay('eve')] : [pay('bob')]);
    const core = await toolCore(t, {
      rules: random.chance(0.5) ? { servers: ['bank'], ask: ['*'] } : { servers: ['bank'], allow: ['bank/*'] },
      say: ({ results, question }) => (results.length > 0 ? 'Done.' : question === 'Pay.' ? calls() : 'Hi.'),
    });
    const { waits } = await interrupted(core, random);
    await comesToRest(t, core);
    await Promise.all(waits); // some end early, while nothing answers the block's messages
    await core.blocks.stop('ada');
  });
}
