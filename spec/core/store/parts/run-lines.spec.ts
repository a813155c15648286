// The lines of a journal.
import t from 'tap';
import { parseRunLines, runLine } from '../../../../core/store/parts/run-lines.ts';
import { callRecord, modelRecord } from '../../../support/tools/records.ts';

t.test('what follows the last newline is not there', async (t) => {
  const lines = runLine(modelRecord(1)) + runLine(callRecord('1.1'));
  t.strictSame(parseRunLines(Buffer.from(`${lines}{"t":"resu`)), { records: [modelRecord(1), callRecord('1.1')], size: lines.length });
});

t.test('a wrong line is named by its number, and an unknown kind is kept', async (t) => {
  t.throws(() => parseRunLines(Buffer.from(`${runLine(modelRecord(1))}x\n`)), { message: /^line 2: it is not valid JSON/ });
  t.throws(() => parseRunLines(Buffer.from('{"t":5}\n')), /line 1: it is not a record/);
  t.throws(() => parseRunLines(Buffer.from('{"t":"unknown","call":"1.1"}\n')), /line 1: why is required/);
  t.match(parseRunLines(Buffer.from('{"t":"later"}\n')).records, [{ t: 'later' }]);
});
