// A server of tools at an address, in a process of its own, for tools.bench.ts. Prints its address.
import type { Test } from 'tap';
import { httpTools } from '../../spec/support/tools/http-tools.ts';

const { url, posted } = await httpTools({ teardown: () => undefined } as unknown as Test);
setInterval(() => posted.splice(0), 100); // nobody looks at them
process.stdout.write(`${url}\n`);
