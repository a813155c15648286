// Loaded into a server by NODE_OPTIONS: how long its event loop was held up by its own work. A wait for the processor, which a busy machine
// causes, is not counted: a stall is as long as the processor time that was used meanwhile, and at most as long as the delay.
const { writeFileSync } = require('node:fs');
const { performance } = require('node:perf_hooks');

const TICK_MS = 10;
let worstMs = 0;
let lastAt = performance.now();
let lastCpu = process.cpuUsage();

setInterval(() => {
  const now = performance.now();
  const used = process.cpuUsage(lastCpu);
  const lateMs = now - lastAt - TICK_MS;
  worstMs = Math.max(worstMs, Math.min(lateMs, (used.user + used.system) / 1000));
  lastAt = now;
  lastCpu = process.cpuUsage();
}, TICK_MS).unref();

// Asked for by a signal; what is told is forgotten.
process.on('SIGUSR2', () => {
  writeFileSync(process.env.STALL_FILE, JSON.stringify({ worstMs }));
  worstMs = 0;
});
