// The schedules of a block: when each runs next, how it went, what a day costs, and what can be done with it.
import type { HookList, ScheduleList, ScheduleView } from '../../../../../core/types.ts';
import { usd } from '../../../base/format.ts';
import { tell } from '../../../base/toast.ts';
import { useFollowed } from '../../../data/details.ts';
import { readHooks } from '../../../data/hooks.ts';
import { readSchedules, removeSchedule, saveSchedule, steerSchedule, timeIn } from '../../../data/schedules.ts';
import { showDialog } from '../../../parts/dialog.tsx';
import { Ago, Button, Problem } from '../../../parts/widgets.tsx';
import {
  costsAboutText,
  leftOutText,
  runOutcomeText,
  runsText,
  scheduleRemovedText,
  scheduleStateText,
  scheduleText,
  WORDS,
  whenText,
} from '../../../text/index.ts';
import { ScheduleForm } from './form.tsx';
import { Hooks } from './hooks.tsx';

/** The tab. */
export function Schedules({ name }: { readonly name: string }) {
  const { state, reload } = useFollowed(name, () => readAll(name));
  const { data, error } = state.value;
  const open = (schedule?: ScheduleView): void => {
    showDialog((close) => <ScheduleForm block={name} schedule={schedule} close={close} reload={reload} />);
  };
  return (
    <div class="page">
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && (
        <section class="schedules">
          <header class="row wrap">
            <h2 class="grow">{scheduleText.title}</h2>
            <Button label={scheduleText.add} icon="plus" run={() => open()} />
          </header>
          <p class="sm t2">{data.schedules.length === 0 ? scheduleText.none : scheduleText.lead}</p>
          {data.held !== null && data.schedules.length > 0 && <p class="warn sm">{data.held}</p>}
          <ul>
            {data.schedules.map((schedule) => (
              <Row key={schedule.id} block={name} schedule={schedule} edit={() => open(schedule)} reload={reload} />
            ))}
          </ul>
        </section>
      )}
      {data !== undefined && <Hooks name={name} hooks={data.hooks} reload={reload} />}
    </div>
  );
}

/** One subscription serves both. */
async function readAll(name: string): Promise<ScheduleList & HookList> {
  const [schedules, hooks] = await Promise.all([readSchedules(name), readHooks(name)]);
  return { ...schedules, ...hooks };
}

interface RowProps {
  readonly block: string;
  readonly schedule: ScheduleView;
  edit(): void;
  reload(): Promise<void>;
}

function Row({ block, schedule, edit, reload }: RowProps) {
  const { id, state, problem, message, skipped, costsAbout } = schedule;
  const leftOut = leftOutText(skipped);
  return (
    <li class="schedule">
      <header class="row wrap">
        <h3 class="break">{id}</h3>
        <span class={state === 'invalid' ? 'chip bad' : 'chip'}>{scheduleStateText(state)}</span>
        <span class="grow sm t2 break">{whenText(schedule)}</span>
        <Actions block={block} schedule={schedule} edit={edit} reload={reload} />
      </header>
      <p class="break">{message}</p>
      {problem !== null && <p class="warn sm break">{problem}</p>}
      <dl class="sm">
        <Next schedule={schedule} />
        <Outcomes schedule={schedule} />
        {leftOut !== '' && (
          <div>
            <dt>{scheduleText.leftOut}</dt>
            <dd>{leftOut}</dd>
          </div>
        )}
        {costsAbout !== null && (
          <div>
            <dt>{scheduleText.costs}</dt>
            <dd class="num">{costsAboutText(costsAbout)}</dd>
          </div>
        )}
      </dl>
    </li>
  );
}

function Actions({ block, schedule: { id, pausedBecause }, edit, reload }: RowProps) {
  const steer = async (action: 'run' | 'pause' | 'resume'): Promise<void> => {
    await steerSchedule(block, id, action);
    if (action === 'run') tell(scheduleText.ran);
    await reload();
  };
  const remove = async (): Promise<void> => {
    const removed = await removeSchedule(block, id);
    await reload();
    if (removed === undefined) return;
    const restore = async (): Promise<void> => {
      await saveSchedule(block, removed, undefined);
      await reload();
    };
    tell(scheduleRemovedText(id), { label: WORDS.undo, run: () => void restore() });
  };
  return (
    <span class="row wrap">
      <Button label={scheduleText.runNow} small run={() => steer('run')} />
      {pausedBecause === null ? (
        <Button key="pause" label={scheduleText.pause} small run={() => steer('pause')} />
      ) : (
        <Button key="resume" label={scheduleText.resume} small run={() => steer('resume')} />
      )}
      <Button label={scheduleText.edit} small kind="quiet" run={edit} />
      <Button label={scheduleText.remove} icon="trash" iconOnly small kind="quiet" run={remove} />
    </span>
  );
}

/** In the zone of the schedule, and in UTC where that is another one. */
function Next({ schedule: { next, timezone } }: { readonly schedule: ScheduleView }) {
  if (next.length === 0) return null;
  return (
    <div>
      <dt>{scheduleText.next}</dt>
      {next.map((at) => (
        <dd key={at} class="num">
          {timeIn(at, timezone)} {timezone}
          {timezone !== scheduleText.utc && (
            <span class="t2">
              {' = '}
              {timeIn(at, scheduleText.utc)} {scheduleText.utc}
            </span>
          )}
        </dd>
      ))}
    </div>
  );
}

const SHOWN_OUTCOMES = 3;

function Outcomes({ schedule: { lastOutcomes, fired } }: { readonly schedule: ScheduleView }) {
  return (
    <div>
      <dt>
        {scheduleText.outcomes} {fired > 0 && <span class="t2">{runsText(fired)}</span>}
      </dt>
      {lastOutcomes.length === 0 && <dd class="t2">{scheduleText.noOutcomes}</dd>}
      {lastOutcomes.slice(0, SHOWN_OUTCOMES).map(({ messageId, at, status, error, costUsd }) => (
        <dd key={messageId} class={status === 'failed' ? 'bad break' : 'break'}>
          <Ago at={at} /> · {runOutcomeText(status)}
          {error !== null && `: ${error}`}
          {costUsd !== null && <span class="t2 num"> · {usd(costUsd)}</span>}
        </dd>
      ))}
    </div>
  );
}
