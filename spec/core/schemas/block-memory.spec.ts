import t from 'tap';
import { freshMemory } from '../../../core/block/documents/document-codecs.ts';
import { Compaction, MemoryFile } from '../../../core/schemas/block-memory.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('fresh memory is valid, also with a fact', async (t) => {
  t.equal(refusedField(MemoryFile, freshMemory()), undefined);
  t.equal(refusedField(MemoryFile, { ...freshMemory(), facts: [{ id: 'f1', text: 'x', pinned: true }] }), undefined);
  t.equal(refusedField(MemoryFile, { ...freshMemory(), facts: [{ id: 'f1', text: 'x' }] }), 'facts[0].pinned');
});

t.test('a compaction has one of three triggers and one of three outcomes', async (t) => {
  const compaction = { id: 'c1', at: '2026-11-20T14:03:22.123Z', trigger: 'manual', outcome: 'evicted' };
  t.equal(refusedField(Compaction, compaction), undefined);
  t.equal(refusedField(Compaction, { ...compaction, trigger: 'other' }), 'trigger');
  t.equal(refusedField(Compaction, { ...compaction, outcome: 'other' }), 'outcome');
});
