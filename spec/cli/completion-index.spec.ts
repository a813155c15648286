import t from 'tap';
import { COMMAND_INDEX } from '../../cli/command-index.ts';
import { COMPLETION_INDEX } from '../../cli/completion-index.ts';

t.test('completions know every command', async (t) => {
  t.same(
    COMPLETION_INDEX.map(({ paths }) => paths),
    COMMAND_INDEX.map(({ paths }) => paths),
    'else run `npm run generate`',
  );
});
