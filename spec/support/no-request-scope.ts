// Requests to the model server of the package aimock run outside of any scope. It makes an AsyncLocalStorage for each server, which it only asks after a crash of its own, and Node
// then takes every promise of the process through all of them, until the process ends: a fifth of the processor time of the specs that followed.
import { AsyncLocalStorage } from 'node:async_hooks';
import { IncomingMessage } from 'node:http';

type Run = (this: AsyncLocalStorage<unknown>, store: unknown, work: (...args: unknown[]) => unknown, ...args: unknown[]) => unknown;

const run = AsyncLocalStorage.prototype.run as Run;

const runOutside: Run = function (store, work, ...args) {
  return store instanceof IncomingMessage ? work(...args) : run.call(this, store, work, ...args);
};

AsyncLocalStorage.prototype.run = runOutside as typeof AsyncLocalStorage.prototype.run;
