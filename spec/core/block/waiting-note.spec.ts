import t from 'tap';
import { blockedBy, endsWait } from '../../../core/block/waiting-note.ts';
import type { BlockState } from '../../../core/index.ts';

t.test('a block that does not answer says so with a command, and one at work says nothing', async (t) => {
  const note = (state: BlockState, isRunning = true) => blockedBy('ada', { state, isRunning });
  for (const state of ['starting', 'idle', 'working', 'compacting', 'backoff', 'stopping'] as const) t.equal(note(state), undefined, state);
  t.equal(note('stopped', false), 'The monitor is stopped, so nobody answers yet; `blockhouse start ada` starts it.');
  t.equal(note('compacting', false), note('stopped', false), 'a person can compact the memory of a stopped block');
  t.equal(note('paused'), 'The monitor is paused, so the message waits; `blockhouse why ada` says why.');
  t.equal(note('failed'), 'The monitor is failed, so the message waits; `blockhouse why ada` says why.');
});

t.test('a wait that waits for people too goes on while a call waits, and ends like any other', async (t) => {
  const note = (state: BlockState, isRunning = true, waitsForPeople = true) => endsWait('ada', { state, isRunning }, waitsForPeople);
  t.match(note('waiting-approval', true, false), /A call waits for a decision/);
  t.equal(note('waiting-approval'), undefined);
  t.match(note('waiting-approval', false), /stopped/);
  t.match(note('paused'), /paused/);
});
