// The beginning of the page.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { runClock } from '../base/clock.ts';
import { runDrawing } from '../base/drawing.ts';
import { runFocus } from '../base/focus.ts';
import { runKeys } from '../base/keys.ts';
import { onEvent, runEvents } from '../data/events.ts';
import { readFleet, runFleet } from '../data/fleet.ts';
import { readHalt } from '../data/halt.ts';
import { runRouter } from '../data/router.ts';
import { begin, signIn } from '../data/session.ts';
import { runTheme } from '../data/settings.ts';
import { connection, runSocket } from '../data/socket.ts';
import { App } from './shell.tsx';

await begin(); // first: it takes the code out of the address
runTheme();
runRouter();
runKeys();
runFocus();
runClock();
runDrawing();
render(<App />, document.getElementById('app') as HTMLElement);
runFleet();
runEvents();
runSocket();
onEvent(({ name }) => {
  if (name === 'workspace.halted') void readHalt();
});
effect(() => {
  // Each time anew: the socket begins where it ended, these two begin with a reading.
  if (signIn.value === 'in' && connection.value.state === 'live') void readHalt().catch(() => undefined);
});
effect(() => {
  if (signIn.value === 'in') void readFleet().catch(() => undefined); // the list needs no socket
});
