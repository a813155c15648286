import t from 'tap';
import { DoctorReport, SetHalt } from '../../../core/schemas/workspace-api.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('the body of a halt is a reason or nothing', async (t) => {
  t.equal(refusedField(SetHalt, {}), undefined);
  t.equal(refusedField(SetHalt, { reason: 1 }), 'reason');
  t.equal(refusedField(SetHalt, { why: 'x' }), 'why');
});

t.test('a finding is an error or a warning', async (t) => {
  const report = { ok: true, checked: { blocks: 0, files: 0, messages: 0 } };
  const finding = { severity: 'warning', place: 'blocks/x', problem: 'p', fix: 'f' };
  t.equal(refusedField(DoctorReport, { ...report, findings: [finding] }), undefined);
  t.equal(refusedField(DoctorReport, { ...report, findings: [{ ...finding, severity: 'note' }] }), 'findings[0].severity');
});
