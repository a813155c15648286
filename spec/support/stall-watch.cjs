// Loaded into a server by NODE_OPTIONS: how long its event loop was held up by its own work. A wait for the processor, which a busy machine
// causes, is not counted: a stall is as long as the processor time that the main thread used meanwhile, and at most as long as the delay.
const { existsSync, openSync, readSync, rmSync, writeFileSync } = require('node:fs');
const { performance } = require('node:perf_hooks');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** A server that is idle wakes for each, and the tests wait for servers for minutes. */
const TICK_MS = 20;
/** The first number is nanoseconds on a processor; the main thread's id is that of the process. It stays open, for each tick reads it. */
const schedstat = process.platform === 'linux' ? openSync(`/proc/self/task/${process.pid}/schedstat`) : undefined;
const text = Buffer.alloc(64);

function mainThreadMs() {
  if (schedstat !== undefined) return Number(text.latin1Slice(0, readSync(schedstat, text, 0, text.length, 0)).split(' ')[0]) / 1e6;
  // Other systems: all threads of the process, which is too much rather than too little.
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

let worstMs = 0;
let lastAt = performance.now();
let lastUsed = mainThreadMs();

setInterval(() => {
  const now = performance.now();
  const used = mainThreadMs();
  worstMs = Math.max(worstMs, Math.min(now - lastAt - TICK_MS, used - lastUsed));
  lastAt = now;
  lastUsed = used;
}, TICK_MS).unref();

// Asked for by a signal; what is told is forgotten. Garbage is collected then where a file beside it asks for that, for an idle process leaves it where it is: what stays is held.
process.on('SIGUSR2', () => {
  const wish = `${process.env.STALL_FILE}.collect`;
  const collects = existsSync(wish);
  if (collects) rmSync(wish);
  writeFileSync(process.env.STALL_FILE, JSON.stringify({ worstMs }));
  if (collects) collectGarbage();
  worstMs = 0;
  lastAt = performance.now();
  lastUsed = mainThreadMs();
});
