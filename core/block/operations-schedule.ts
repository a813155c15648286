// Shows, pauses, resumes and runs the schedules of a block, and sends their messages.

import { nearest } from '../base/closest.ts';
import { nextTurn } from '../base/next-turn.ts';
import { BlockhouseError } from '../errors.ts';
import type { ScheduleWork } from '../schedule/work.ts';
import type { ScheduleList, ScheduleState, ScheduleView } from '../schemas/block-api.ts';
import type { Schedule } from '../schemas/block-config.ts';
import type { ChatReceipt } from '../schemas/chat-api.ts';
import { chainOfSchedule } from '../tools/builtin/later.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import type { OperationsContext } from './operations.ts';
import { queueMessage } from './operations-chat.ts';
import { budgetStand } from './reply/budget-check.ts';
import { blockedBy } from './waiting-note.ts';

/** Loaded with the first schedule. */
const plans = (): Promise<typeof import('../schedule/parts.ts')> => import('../schedule/parts.ts');

/** The operations on schedules. */
export function scheduleOperations({ blocks, change }: OperationsContext): Pick<Blocks, 'schedules' | 'runSchedule' | 'pauseSchedule' | 'resumeSchedule'> {
  return {
    schedules: async (name) => schedulesOf(await blocks.find(name)),
    runSchedule: (name, id) => change(name, (block) => run(block, id)),
    pauseSchedule: (name, id) => change(name, (block) => steer(block, id, (state) => ({ ...state, pausedBecause: 'person' }))),
    resumeSchedule: (name, id) =>
      change(name, (block) => steer(block, id, (state) => ({ ...state, pausedBecause: null, failures: 0, next: null, last: block.at() }))),
  };
}

/** What the scheduler asks of blocks. */
export function scheduleWork({ blocks, gate, world }: Pick<OperationsContext, 'blocks' | 'gate' | 'world'>): ScheduleWork {
  const noStart = async (): Promise<void> => undefined; // only blocks that run have schedules that run
  const own = (name: string): Block | Promise<Block> => blocks.findNow(name);
  return {
    pass: (work) => gate.pass(work),
    isHalted: () => world.halted().halted,
    isAtCap: async ({ name }, config) => (await budgetStand(await own(name), config)).state === 'exceeded',
    post: async ({ name }, { content, clientId, window }) =>
      (await queueMessage(await own(name), { content, clientId, window, channel: 'schedule', ...chainOfSchedule(name, clientId) }, noStart, undefined)).id,
  };
}

async function schedulesOf(block: Block): Promise<ScheduleList> {
  const config = await block.files.config.read();
  if (config.schedule.length === 0) return { schedules: [], held: null };
  const states = await block.stored.schedules.read();
  const { viewsOf } = await plans();
  const [entries, now] = [await block.files.conversation.entries(), block.world.now()];
  const schedules: ScheduleView[] = [];
  for (const schedule of config.schedule) {
    await nextTurn('shown schedules'); // to count the runs of a day takes up to some tens of milliseconds; the scheduler may have thousands of turns to wait for
    schedules.push(...viewsOf({ config: { ...config, schedule: [schedule] }, states, entries, now }));
  }
  return { schedules, held: await heldBy(block) };
}

async function heldBy(block: Block): Promise<string | null> {
  const standing = await block.standing();
  if (!standing.isRunning) return `The monitor is stopped, so no schedule runs; \`blockhouse start ${block.name}\` starts it.`;
  return blockedBy(block.name, standing)?.replace('the message waits', 'no schedule runs') ?? null;
}

/** Throws SCHEDULE_NOT_FOUND. */
async function scheduleOf(block: Block, id: string): Promise<Schedule> {
  const { schedule } = await block.files.config.read();
  const found = schedule.find((one) => one.id === id);
  if (found !== undefined) return found;
  const near = nearest(
    id,
    schedule.map((one) => one.id),
  );
  const hint = near === undefined ? ` \`blockhouse schedule ls ${block.name}\` lists them.` : ` Did you mean ${near}?`;
  throw new BlockhouseError('SCHEDULE_NOT_FOUND', `The block ${block.name} has no schedule of this id.${hint}`);
}

/** An extra run, whose id has no time of the schedule. */
async function run(block: Block, id: string): Promise<ChatReceipt> {
  const schedule = await scheduleOf(block, id);
  const { windowOf } = await plans();
  const clientId = `schedule:${id}:run-${block.at()}`;
  const message = { content: schedule.message, clientId, window: windowOf(schedule), channel: 'schedule', ...chainOfSchedule(block.name, clientId) } as const;
  return queueMessage(block, message, async () => undefined, undefined);
}

async function steer(block: Block, id: string, change: (state: ScheduleState) => ScheduleState): Promise<ScheduleView> {
  const schedule = await scheduleOf(block, id);
  const { stateNow, timingText } = await plans();
  const { budget } = await block.files.config.read();
  await block.stored.schedules.update((states) => {
    const state = stateNow(states[id], timingText(schedule, budget.timezone), block.world.now());
    return { value: { ...states, [id]: change(state) }, result: undefined };
  });
  if (block.isRunning) block.world.schedules.see(block, await block.files.config.read());
  const view = (await schedulesOf(block)).schedules.find((one) => one.id === id);
  if (view === undefined) throw new BlockhouseError('SCHEDULE_NOT_FOUND', 'The schedule was removed meanwhile.');
  return view;
}
