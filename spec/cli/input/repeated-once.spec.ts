import t from 'tap';
import { repeatedOnce } from '../../../cli/input/repeated-once.ts';
import { CliError } from '../../../cli/terminal/exit-codes.ts';

t.test('a change that met another one is made once more, and no other is', async (t) => {
  const tries: string[] = [];
  const failing = (code: string, times: number) => async (): Promise<string> => {
    tries.push(code);
    if (tries.length <= times) throw new CliError('refused' as never, 'x', undefined, { code } as never);
    return 'done';
  };
  t.equal(await repeatedOnce(failing('REVISION_MISMATCH', 1)), 'done');
  t.equal(tries.length, 2);
  tries.length = 0;
  await t.rejects(repeatedOnce(failing('REVISION_MISMATCH', 2)));
  t.equal(tries.length, 2);
  tries.length = 0;
  await t.rejects(repeatedOnce(failing('NAME_TAKEN', 1)));
  t.equal(tries.length, 1);
});
