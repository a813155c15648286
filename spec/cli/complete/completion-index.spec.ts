import t from 'tap';
import { COMPLETION_INDEX } from '../../../cli/complete/completion-index.ts';
import { COMMAND_INDEX } from '../../../cli/main/command-index.ts';

t.test('completions know every command', async (t) => {
  t.same(
    COMPLETION_INDEX.map(({ paths }) => paths),
    COMMAND_INDEX.map(({ paths }) => paths),
    'else run `npm run generate`',
  );
});
