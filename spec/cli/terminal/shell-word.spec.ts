import { join } from 'node:path';
import t from 'tap';
import { ownCommand, shellWord } from '../../../cli/terminal/shell-word.ts';

t.test('the command is shown as this person can type it', async (t) => {
  t.equal(ownCommand('/usr/local/bin/blockhouse', '/home/me'), 'blockhouse');
  t.equal(ownCommand(join('/p', 'node_modules', '.bin', 'blockhouse'), '/p'), 'npx blockhouse');
  t.equal(ownCommand('/src/dist/cli/main.js', '/src'), 'node dist/cli/main.js');
  t.equal(ownCommand('/src/dist/cli/main.js', '/home/me'), 'node /src/dist/cli/main.js');
  t.equal(shellWord("/it's here"), `'/it'\\''s here'`);
});
