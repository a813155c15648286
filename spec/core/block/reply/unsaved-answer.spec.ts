import t from 'tap';
import { isDiskFault, type KeptAnswer, keptText, UnsavedAnswer } from '../../../../core/block/reply/unsaved-answer.ts';
import { BlockhouseError } from '../../../../core/errors.ts';

const kept = (id: string, content = 'hi'): KeptAnswer =>
  ({ message: { id, content }, answer: { bill: { handed: Promise.resolve(), usd: 1 } }, isRecorded: true }) as unknown as KeptAnswer;

t.test('an answer is kept for its message as long as that is the same, without what the ledger has in hand', async (t) => {
  const unsaved = new UnsavedAnswer();
  t.equal(unsaved.of({ id: 'a', content: 'hi' }), undefined);
  unsaved.keep(kept('a'));
  t.match(unsaved.of({ id: 'a', content: 'hi' }), { message: { id: 'a' }, isRecorded: true });
  t.strictSame(unsaved.of({ id: 'a', content: 'hi' })?.answer.bill, { usd: 1 });
  t.equal(unsaved.of({ id: 'a', content: 'changed by hand' }), undefined);
  t.equal(unsaved.of({ id: 'b', content: 'hi' }), undefined);
  unsaved.keep(kept('b'));
  t.equal(unsaved.of({ id: 'a', content: 'hi' }), undefined, 'one-alone');
  unsaved.drop();
  t.equal(unsaved.of({ id: 'b', content: 'hi' }), undefined);
});

t.test('a full disk and a failed write are faults of the disk, and a message says that its answer is kept', async (t) => {
  for (const code of ['STORAGE_FULL', 'STORAGE_FAILED'] as const) t.equal(isDiskFault(new BlockhouseError(code, 'no room')), true, code);
  t.equal(isDiskFault(new BlockhouseError('UPSTREAM_TIMEOUT', 'too late')), false);
  t.equal(isDiskFault(new Error('a defect')), false);
  t.equal(keptText('The disk is full.'), 'The disk is full. The answer is kept, and is written when there is room; the model is not asked again.');
});
