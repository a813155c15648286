import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { noPostgres, postgresStore } from '../../support/postgres.ts';
import { runnable } from '../../support/blocks.ts';
import { testFolder } from '../../support/test-folder.ts';
import { runHere } from '../run.ts';

t.test('both sides must be named, and no secret of an address is printed', async (t) => {
  t.match(await runHere(t, ['copy']), { code: 2, stderr: /--from and --to.*BLOCKHOUSE_STORE/ });
  t.match(await runHere(t, ['copy'], { env: { BLOCKHOUSE_STORE: 'postgres://x/y' } }), { code: 2, stderr: /--from and --to/ });
  t.match(await runHere(t, ['copy', '--from', 'a', '--to', 'b', '--verify', '--dry-run']), { code: 2, stderr: /--verify writes nothing/ });
  t.match(await runHere(t, ['copy', '--from', 'a', '--to', 'b']), { code: 2, stderr: /to must be a database/ });
  const away = await runHere(t, ['copy', '--from', testFolder(t), '--to', 'postgres://me:secret@127.0.0.1:1/db']);
  t.match(away, { code: 5, stderr: /does not answer \(ECONNREFUSED\)/ });
  t.notMatch(away.stderr, 'secret');
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  const store = await postgresStore(t);
  const env = { BLOCKHOUSE_STORE: store };
  const from = testFolder(t, { blocks: runnable(['ada', 'bob']), 'models.json': '{}' });
  const args = ['copy', '--from', from];
  t.match(await runHere(t, [...args, '--dry-run'], { env }), {
    code: 0,
    stdout: 'to copy: 2 blocks, settings\n',
    stderr: 'Nothing was written (--dry-run).\n',
  });
  t.match(await runHere(t, args, { env }), { code: 0, stdout: 'copied: 2 blocks, settings\n', stderr: /^Copied\. Compare both sides/ });
  t.strictSame(await runHere(t, [...args, '--verify'], { env }), {
    code: 0,
    stdout: '',
    stderr: 'Compared 2 blocks, 0 messages, 0 ledger lines, 0 calls of clients: no difference.\n',
  });
  writeFileSync(join(from, 'blocks/ada/config.json'), '{"name":"ada","description":"new"}');
  t.match(await runHere(t, [...args, '--verify'], { env }), { code: 1, stdout: 'blocks/ada: config: the content differs\n', stderr: /1 difference\.\n$/ });
  t.match(JSON.parse((await runHere(t, [...args, '--verify', '--json'], { env })).stdout), { compared: { blocks: 2 }, differences: [{ place: 'blocks/ada' }] });
  writeFileSync(join(from, 'blocks/bob/config.json'), '{');
  t.match(await runHere(t, args, { env }), { code: 1, stdout: /^copied: 1 block\nfailed: blocks\/bob: config\.json/, stderr: /^The copy is not whole/ });
  t.match(await runHere(t, ['copy', '--to', join(from, 'back')], { env }), { code: 5, stderr: /holds a copy of .* that is not whole/ });
  writeFileSync(join(from, 'blocks/bob/config.json'), '{"name":"bob"}');
  t.match(await runHere(t, args, { env }), { code: 0 });
  t.match(JSON.parse((await runHere(t, ['copy', '--to', join(from, 'back'), '--json', '--only', 'a?a'], { env })).stdout), {
    blocks: { copied: 1 },
    failed: [],
  });
});
