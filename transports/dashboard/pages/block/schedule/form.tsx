// The form of a schedule.
import { useState } from 'preact/hooks';
import type { ScheduleView } from '../../../../../core/types.ts';
import { tell } from '../../../base/toast.ts';
import { saveSchedule, scheduleOf, type Timing, type TypedSchedule, typedSchedule, wrongFields } from '../../../data/schedules.ts';
import { FormDialog } from '../../../parts/dialog.tsx';
import { Field, Segments, TextField } from '../../../parts/fields.tsx';
import { CATCH_UPS, scheduleSavedText, scheduleText, scheduleTitle, TIMINGS } from '../../../text/index.ts';

interface FormProps {
  readonly block: string;
  /** Undefined for a new one. */
  readonly schedule: ScheduleView | undefined;
  readonly close: () => void;
  reload(): Promise<void>;
}

const MAX_MESSAGE = 32_768;

/** The dialog. What the server refuses stays in it, with the reason. */
export function ScheduleForm({ block, schedule, close, reload }: FormProps) {
  const [typed, setTyped] = useState<TypedSchedule>(typedSchedule(schedule));
  const [isTried, setTried] = useState(false);
  const wrong = isTried ? wrongFields(typed) : [];
  const set = (change: Partial<TypedSchedule>): void => setTyped({ ...typed, ...change });
  const fault = (field: keyof TypedSchedule, text: string): string | undefined => (wrong.includes(field) ? text : undefined);
  const act = async (): Promise<void> => {
    setTried(true);
    if (wrongFields(typed).length > 0) return;
    await saveSchedule(block, scheduleOf(typed), schedule?.id);
    tell(scheduleSavedText(typed.id));
    close();
    await reload();
  };
  return (
    <FormDialog title={scheduleTitle(schedule?.id)} does={scheduleText.save} close={close} act={act}>
      {schedule === undefined && (
        <TextField
          label={scheduleText.id}
          help={scheduleText.idHelp}
          wrong={fault('id', scheduleText.idWrong)}
          value={typed.id}
          set={(id) => set({ id: id.trim() })}
        />
      )}
      <When typed={typed} wrong={fault('when', scheduleText.whenWrong)} set={set} />
      <Field label={scheduleText.message} wrong={fault('message', scheduleText.messageWrong)}>
        {(props) => (
          <textarea
            {...props}
            class="input"
            rows={3}
            maxLength={MAX_MESSAGE}
            value={typed.message}
            onInput={(event) => set({ message: event.currentTarget.value })}
          />
        )}
      </Field>
      <TextField
        label={scheduleText.window}
        help={scheduleText.windowHelp}
        wrong={fault('window', scheduleText.windowWrong)}
        value={typed.window}
        set={(window) => set({ window })}
      />
      <Field label={scheduleText.catchUp}>
        {(props) => (
          <select {...props} class="input" value={typed.catchUp} onChange={(event) => set({ catchUp: event.currentTarget.value as TypedSchedule['catchUp'] })}>
            {Object.entries(CATCH_UPS).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}

interface WhenProps {
  readonly typed: TypedSchedule;
  readonly wrong: string | undefined;
  set(change: Partial<TypedSchedule>): void;
}

/** The times, in one of three ways. */
function When({ typed, wrong, set }: WhenProps) {
  return (
    <>
      <Segments
        label={scheduleText.timing}
        options={Object.entries(TIMINGS).map(([id, { name }]) => [id as Timing, name] as const)}
        value={typed.timing}
        choose={(timing) => set({ timing, when: '' })}
      />
      <TextField label={scheduleText.when} help={TIMINGS[typed.timing].help} wrong={wrong} value={typed.when} set={(when) => set({ when })} />
      {typed.timing === 'cron' && (
        <TextField label={scheduleText.timezone} help={scheduleText.timezoneHelp} value={typed.timezone} set={(timezone) => set({ timezone })} />
      )}
    </>
  );
}
