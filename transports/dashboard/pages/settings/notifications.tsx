// The switch of the browser's notifications. The browser is asked when it is switched on, and never else.
import { useSignal } from '@preact/signals';
import { isVisible } from '../../base/clock.ts';
import { notify } from '../../data/settings.ts';
import { notifyText } from '../../text/index.ts';

/** The switch, and what to do where the browser refuses. */
export function Notifications() {
  const asked = useSignal(false);
  isVisible.value; // the settings of the browser may have changed meanwhile
  const why = asked.value || notify.value ? refusal() : undefined;
  const change = async (isOn: boolean): Promise<void> => {
    if (isOn) await switchOn();
    else notify.value = false;
    asked.value = isOn;
  };
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={notify.value}
          onChange={(event) => {
            const box = event.currentTarget;
            void change(box.checked).then(() => {
              box.checked = notify.peek();
            });
          }}
        />
        {notifyText.on}
      </label>
      {why !== undefined && (
        <p class="warn" role="alert">
          {notifyText.refusals[why]}
        </p>
      )}
    </>
  );
}

/** Why the browser shows none; undefined if it does. */
function refusal(): keyof typeof notifyText.refusals | undefined {
  if (!isSecureContext) return 'insecure';
  if (typeof Notification === 'undefined') return 'unsupported';
  return Notification.permission === 'granted' ? undefined : Notification.permission;
}

/** Asks the browser, where it lets itself be asked. They stay off unless it agrees. */
async function switchOn(): Promise<void> {
  if (isSecureContext && typeof Notification !== 'undefined') await Notification.requestPermission();
  notify.value = refusal() === undefined;
}
