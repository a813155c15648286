import t from 'tap';
import { isStorageFault, type KeptAnswer, keptText, UnsavedAnswer } from '../../../../core/block/reply/unsaved-answer.ts';
import { BlockhouseError } from '../../../../core/errors.ts';

const message = { id: 'm1', content: 'hi' };
const kept = (more: object = {}): KeptAnswer =>
  ({
    message,
    candidate: { provider: 'p', model: 'm', config: {} },
    answer: { message: { role: 'assistant', content: [] }, bill: { at: 'now', handed: { id: 'l1' } } },
    isRecorded: false,
    ...more,
  }) as unknown as KeptAnswer;

t.test('an answer is kept for its message, as long as that is the same', async (t) => {
  const unsaved = new UnsavedAnswer();
  t.equal(unsaved.of(message), undefined);
  unsaved.keep(kept());
  t.match(unsaved.of(message), { message, isRecorded: false });
  t.equal(unsaved.of({ id: 'm2', content: 'hi' }), undefined, 'another message');
  t.equal(unsaved.of({ id: 'm1', content: 'changed by hand' }), undefined);
  t.notOk('handed' in (unsaved.of(message)?.answer.bill ?? {}), 'the ledger writes the line of its call by itself');
  unsaved.keep(kept({ message: { id: 'm2', content: 'other' } }));
  t.equal(unsaved.of(message), undefined, 'one-alone');
  unsaved.forget(message);
  t.ok(unsaved.of({ id: 'm2', content: 'other' }), 'another one was cancelled');
  unsaved.forget({ id: 'm2', content: 'other' });
  t.equal(unsaved.of({ id: 'm2', content: 'other' }), undefined);
  unsaved.keep(kept());
  unsaved.drop();
  t.equal(unsaved.of(message), undefined);
});

t.test('only a fault of the disk or of the database leaves an answer worth keeping', async (t) => {
  for (const code of ['STORAGE_FULL', 'STORAGE_FAILED', 'STORE_UNREACHABLE'] as const) t.ok(isStorageFault(new BlockhouseError(code, 'no')), code);
  for (const error of [new BlockhouseError('BLOCK_DAMAGED', 'no'), new BlockhouseError('LEASE_LOST', 'no'), new Error('a defect')])
    t.notOk(isStorageFault(error));
  t.match(keptText('The disk is full.'), /^The disk is full\. The answer is kept/);
});
