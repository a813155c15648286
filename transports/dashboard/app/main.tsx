// The beginning of the page.
import { render } from 'preact';
import { runAddress } from '../base/address.ts';
import { runClock } from '../base/clock.ts';
import { runDrawing } from '../base/drawing.ts';
import { runFocus } from '../base/focus.ts';
import { runKeys } from '../base/keys.ts';
import { readServer } from '../data/server.ts';
import { runSettings } from '../data/settings.ts';
import { takeCode } from '../data/sign-in-link.ts';
import { compose, run } from './compose.ts';
import { App } from './shell.tsx';

const services = compose();
await takeCode(services.session); // first: it takes the code out of the address
await readServer();
services.session.begin();
runClock();
runSettings(localStorage);
runAddress();
runKeys();
runFocus();
runDrawing();
render(<App />, document.getElementById('app') as HTMLElement);
run(services);
