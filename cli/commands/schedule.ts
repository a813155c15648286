// `blockhouse schedule`: the messages that a block gets at certain times.
import { Command, Option } from 'clipanion';
import type { BlockConfig, Schedule } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { repeatedOnce } from '../input/repeated-once.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { scheduleLines } from '../views/schedule-text.ts';

const category = 'Blocks';

/** Prints `{schedules, held}`, or a few lines for each. */
export class ScheduleListCommand extends ServerCommand {
  static override readonly paths = [['schedule', 'ls'], ['schedule', 'list'], ['schedule']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the schedules of a block: next runs, last outcome, costs',
    details:
      'The next three runs are shown in the time zone of the schedule and in UTC. `costs about` is the median of the last ten runs, times the runs a day.',
    examples: [['All of them', '$0 schedule ls my-block']],
  });

  block = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const list = await api.schedules(this.block);
      await this.print(list, this.json ? [] : scheduleLines(list, { now: Date.now(), style: this.style }));
      if (list.schedules.length === 0 && !this.json) {
        const hint = this.hint('schedule', 'add', this.block, '--id', 'brief', '--cron', '0 8 * * 1-5', '--message', 'Write the morning brief.');
        await this.say(`${oneLine(this.block)} has no schedules. For example: \`${hint}\``);
      }
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, schedule}`. */
export class ScheduleAddCommand extends ServerCommand {
  static override readonly paths = [['schedule', 'add']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Send a block a message at certain times',
    details: `
      Give one of \`--cron\`, \`--every\` and \`--at\`. \`--cron\` has five fields (minute, hour, day, month, weekday), or is @hourly, @daily, @weekly or @monthly. \`--every\` is a
      time span of at least a minute, such as 30m, 6h or 2d. \`--at\` is one moment, with \`Z\` or an offset. Times are those of \`--timezone\`, or of the block's \`budget.timezone\`.
      Schedules run while the monitor of the block does. \`--catch-up\` says what becomes of runs that were missed: none, one (the latest, unless it is older than \`--grace\` minutes), or all.
    `,
    examples: [
      ['On working days', '$0 schedule add my-block --id brief --cron "0 8 * * 1-5" --timezone Europe/Berlin --message "Write the morning brief."'],
      ['Again and again', '$0 schedule add my-block --id check --every 30m --message "Look for new tickets." --window 0'],
      ['Once', '$0 schedule add my-block --id launch --at 2026-12-24T09:00:00+01:00 --message "Say that we are closed."'],
    ],
  });

  id = Option.String('--id', { required: true, description: 'Its name, once in a block' });
  message = Option.String('--message', { required: true, description: 'What is sent to the block' });
  cron = Option.String('--cron', { description: 'When it runs: five fields, or @daily and the like' });
  every = Option.String('--every', { description: 'How often it runs' });
  at = Option.String('--at', { description: 'When it runs, once' });
  timezone = Option.String('--timezone', { description: 'The time zone, such as Europe/Berlin' });
  until = Option.String('--until', { description: 'The last day on which it runs' });
  window = Option.String('--window', { description: 'How many earlier exchanges the model sees, or all; 3 by default' });
  catchUp = Option.String('--catch-up', { description: 'What becomes of missed runs: none, one or all' });
  grace = Option.String('--grace', { description: 'How old a missed run may be, in minutes; 60 by default' });
  maxPerDay = Option.String('--max-per-day', { description: 'The most runs a day; 48 by default' });
  replace = Option.Boolean('--replace', false, { description: 'Replace the schedule of this id' });
  block = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    const schedule = this.#schedule();
    return this.withServer(async (api) => {
      await changeSchedules(api, this.block, (before) => {
        const isKnown = before.some(({ id }) => id === schedule.id);
        if (isKnown && !this.replace)
          throw new CliError('usage', `${oneLine(this.block)} has a schedule ${oneLine(this.id)} already. Add --replace to replace it.`);
        return isKnown ? before.map((one) => (one.id === schedule.id ? schedule : one)) : [...before, schedule];
      });
      const { schedules, held } = await api.schedules(this.block);
      const added = schedules.filter(({ id }) => id === schedule.id);
      await this.print(
        { success: true, schedule: added[0] },
        this.json ? [] : scheduleLines({ schedules: added, held }, { now: Date.now(), style: this.style }),
      );
      return 'ok';
    });
  }

  #schedule(): Schedule {
    const window = this.window === 'all' ? 'all' : wholeNumber('--window', this.window);
    const given = {
      id: this.id,
      cron: this.cron,
      every: this.every,
      at: this.at,
      timezone: this.timezone,
      message: this.message,
      window,
      catchUp: this.catchUp,
      graceMinutes: wholeNumber('--grace', this.grace),
      maxPerDay: wholeNumber('--max-per-day', this.maxPerDay),
      until: this.until,
    };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as unknown as Schedule;
  }
}

/** Prints nothing, or `{success, message}`. */
export class ScheduleRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['schedule', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove a schedule of a block',
    details: 'Messages that it has sent stay. At a terminal, it asks first; elsewhere it needs `--yes`. `schedule pause` lets one rest instead.',
    examples: [['Remove one', '$0 schedule rm my-block brief']],
  });

  block = Option.String({ name: 'block' });
  id = Option.String({ name: 'schedule' });

  protected override async run(): Promise<ExitKind> {
    const [block, id] = [oneLine(this.block), oneLine(this.id)];
    return this.onceAgreed(`Remove the schedule ${id} of ${block}?`, `This removes the schedule ${id} of ${block}.`, () =>
      this.withServer(async (api) => {
        await changeSchedules(api, this.block, (before) => {
          const after = before.filter((one) => one.id !== this.id);
          if (after.length === before.length)
            throw new CliError('usage', `${block} has no schedule ${id}. \`${this.hint('schedule', 'ls', this.block)}\` lists them.`);
          return after;
        });
        const message = `The schedule ${id} is removed.`;
        await this.print({ success: true, message }, []);
        await this.say(message);
        return 'ok';
      }),
    );
  }
}

/** What a person does with one schedule. */
abstract class OneScheduleCommand extends ServerCommand {
  block = Option.String({ name: 'block' });
  id = Option.String({ name: 'schedule' });
}

/** Prints nothing, or `{success, schedule}`. */
export class SchedulePauseCommand extends OneScheduleCommand {
  static override readonly paths = [['schedule', 'pause']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Let a schedule rest until it is resumed',
    examples: [['Pause one', '$0 schedule pause my-block brief']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      await this.print(await api.steerSchedule(this.block, this.id, 'pause'), []);
      await this.say(`The schedule ${oneLine(this.id)} is paused. \`${this.hint('schedule', 'resume', this.block, this.id)}\` lets it run again.`);
      return 'ok';
    });
  }
}

/** Prints nothing, or `{success, schedule}`. */
export class ScheduleResumeCommand extends OneScheduleCommand {
  static override readonly paths = [['schedule', 'resume']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Let a paused schedule run again',
    details: 'Also one that has paused itself after five failed runs in a row. It runs from now on; what it missed meanwhile is not made up for.',
    examples: [['Resume one', '$0 schedule resume my-block brief']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const resumed = await api.steerSchedule(this.block, this.id, 'resume');
      await this.print(resumed, this.json ? [] : scheduleLines({ schedules: [resumed.schedule], held: null }, { now: Date.now(), style: this.style }));
      return 'ok';
    });
  }
}

/** Prints the id of the message, or its receipt. */
export class ScheduleRunCommand extends OneScheduleCommand {
  static override readonly paths = [['schedule', 'run']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Send the message of a schedule now, as an extra run',
    details: 'Its times stay as they are. The answer comes into the history of the block.',
    examples: [['Try one', '$0 schedule run my-block brief']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const receipt = await api.runSchedule(this.block, this.id);
      await this.print(receipt, [oneLine(receipt.id)]);
      await this.say(oneLine(receipt.note));
      return 'ok';
    });
  }
}

/** Changes the list as it is now, again if somebody else changes the configuration meanwhile. */
async function changeSchedules(api: Api, block: string, change: (before: BlockConfig['schedule']) => BlockConfig['schedule']): Promise<void> {
  await repeatedOnce(async () => {
    const { schedule, rev } = await api.config(block);
    return api.updateConfig(block, { schedule: change(schedule) }, rev);
  });
}

/** Undefined for an option that is not given. Throws a CliError. */
function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new CliError('usage', `${option} must be a whole number, not ${oneLine(text)}.`);
  return Number(text);
}
