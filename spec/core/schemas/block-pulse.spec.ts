import t from 'tap';
import { freshPulse } from '../../../core/block/documents/document-codecs.ts';
import { PulseFile, STATES } from '../../../core/schemas/block-pulse.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('a fresh pulse is valid', async (t) => {
  t.equal(refusedField(PulseFile, freshPulse()), undefined);
});

t.test('a pulse has one of the known states', async (t) => {
  for (const state of STATES) t.equal(refusedField(PulseFile, { ...freshPulse(), state }), undefined, state);
  t.equal(refusedField(PulseFile, { ...freshPulse(), state: 'asleep' }), 'state');
});
