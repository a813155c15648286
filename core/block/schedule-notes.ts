// What a person should know of the schedules of a block, for `why` and the doctor.
import { BlockhouseError } from '../errors.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { ScheduleView } from '../schemas/block-api.ts';
import type { Finding } from '../schemas/workspace-api.ts';
import type { ScheduleStates } from '../store/port.ts';

/** A sentence of each schedule that does not run, with the command that helps. */
export async function scheduleNotes(config: BlockConfig, states: () => Promise<ScheduleStates>, now: number): Promise<readonly string[]> {
  const { views, damage } = await looked(config, states, now);
  if (damage !== undefined) return [`No schedule runs: ${damage}`];
  return views.flatMap((view) => noteOf(config.name, view) ?? []);
}

function noteOf(block: string, { id, state, problem, pausedBecause }: ScheduleView): string | undefined {
  const resume = `\`blockhouse schedule resume ${block} ${id}\` lets it run again.`;
  if (pausedBecause === 'failures') return `Its schedule ${id} was paused, because five runs in a row failed. ${resume}`;
  if (pausedBecause === 'person') return `Its schedule ${id} was paused. ${resume}`;
  if (state === 'invalid') return `Its schedule ${id} never runs: ${problem ?? ''}`;
  return problem === null ? undefined : `Its schedule ${id}: ${problem}`;
}

/** What the doctor finds. `place` is that of the block. */
export async function scheduleFindings(config: BlockConfig, states: () => Promise<ScheduleStates>, now: number): Promise<readonly Finding[]> {
  const { name } = config;
  const { views, damage } = await looked(config, states, now);
  if (damage !== undefined) {
    return [
      {
        severity: 'error',
        place: `blocks/${name}/schedule.json`,
        problem: damage,
        fix: 'Repair it by hand, or remove it: its schedules then begin again now.',
      },
    ];
  }
  return views.flatMap((view): Finding[] => {
    const problem = noteOf(name, view);
    if (problem === undefined || view.pausedBecause === 'person') return [];
    const fix = view.state === 'invalid' ? `Change it: \`blockhouse config edit ${name}\`.` : `blockhouse schedule resume ${name} ${view.id}`;
    return [{ severity: 'warning', place: `blocks/${name}/config.json`, problem: `the schedule ${view.id}: ${view.problem ?? problem}`, fix }];
  });
}

async function looked(
  config: BlockConfig,
  read: () => Promise<ScheduleStates>,
  now: number,
): Promise<{ readonly views: readonly ScheduleView[]; readonly damage?: string }> {
  if (config.schedule.length === 0) return { views: [] };
  try {
    const states = await read();
    const { viewsOf } = await import('../schedule/parts.ts');
    return { views: viewsOf({ config, states, entries: [], now }) };
  } catch (error) {
    if (error instanceof BlockhouseError && error.code === 'BLOCK_DAMAGED') return { views: [], damage: error.message };
    throw error;
  }
}
