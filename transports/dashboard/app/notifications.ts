// Notifications of the browser for what begins to need a person while nobody sees the page.
//
// once-and-new: one for each block that comes among those that need somebody; none for what was there when the page was opened, or when notifications were
//   switched on.
// steady: a block must still need somebody after a moment. When a halt is released, each block that waited for that needs somebody until it has noticed.
// not-seen: none while the page is visible.
import { effect, untracked } from '@preact/signals';
import { navigate } from '../base/address.ts';
import { isVisible, timers } from '../base/clock.ts';
import { tell } from '../base/toast.ts';
import { changes, isListed, needsPerson, rows } from '../data/fleet.ts';
import { Needed } from '../data/needs.ts';
import { blockPath, pathOf } from '../data/route.ts';
import { notify } from '../data/settings.ts';
import { manyNeedText, needText, notifyText, whyText } from '../text/index.ts';

const STEADY_MS = 1500;
/** More at once are told in one notification. */
const MAX_AT_ONCE = 5;

/** Watches the list until the page ends. */
export function runNotifications(): void {
  const needed = new Needed();
  const shown = new Map<string, Notification>();
  let isDue = false;
  const look = (): void => {
    isDue = false;
    if (!notify.peek()) return;
    const names = [...rows.peek().values()].flatMap((row) => (needsPerson(row.peek()) ? [row.peek().name] : []));
    const { begun, over } = needed.take(names);
    for (const name of over) {
      shown.get(name)?.close();
      shown.delete(name);
    }
    if (isVisible.peek()) return; // not-seen
    if (begun.length > MAX_AT_ONCE) return void show(manyNeedText(begun.length), {}, pathOf('fleet'));
    for (const name of begun) {
      const entry = rows.peek().get(name)?.peek();
      const body = entry === undefined ? '' : whyText(entry);
      // Of the pages of one browser, those that come later replace it.
      const notification = show(needText(name), { body, tag: name }, blockPath(name));
      if (notification !== undefined) shown.set(name, notification);
    }
  };
  effect(() => {
    changes.value;
    if (!notify.value || !isListed.value) needed.forget();
    else if (!isDue) {
      isDue = true;
      untracked(() => timers.after(STEADY_MS, look)); // steady
    }
  });
}

function show(title: string, options: NotificationOptions, path: string): Notification | undefined {
  try {
    const notification = new Notification(title, options);
    notification.onclick = () => {
      focus();
      navigate(path);
      notification.close();
    };
    return notification;
  } catch {
    // Browsers of phones give the permission, but show notifications of a service worker alone.
    notify.value = false;
    tell(notifyText.refusals.unsupported);
    return undefined;
  }
}
