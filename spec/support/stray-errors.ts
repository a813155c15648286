// An error that no test has caught ends the process, and so fails the run. tap would ask `node:async_hooks` which test it belongs to. That follows every
// promise and handle of the process, for a tenth of the processor time of a test run, and ends the process all the same where a timer has thrown.
//
// before-tap: this is imported before tap, which asks from its first test on.
import asyncHooks, { type AsyncHook } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

const SILENT_HOOK: AsyncHook = { enable: () => SILENT_HOOK, disable: () => SILENT_HOOK };
let asked = 0;

asyncHooks.createHook = () => SILENT_HOOK;
// No two contexts are the same, so no error belongs to a test.
asyncHooks.executionAsyncId = () => {
  asked += 1;
  return asked;
};
syncBuiltinESMExports();
