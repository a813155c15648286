// Both stores keep the laws of a conversation.
import t from 'tap';
import { openFiles } from '../../../core/store/files/block/files.ts';
import { PostgresConversation } from '../../../core/store/postgres/conversation.ts';
import { PostgresMembership as Membership } from '../../../core/store/postgres/membership.ts';
import { blockIn, migrated } from '../../support/migrated.ts';
import { owned } from '../../support/owned.ts';
import { noPostgres } from '../../support/postgres.ts';
import { testFolder } from '../../support/test-folder.ts';
import { conversationSuite } from './conversation-suite.ts';

conversationSuite(t, 'files', async (t, clock) => {
  const reports = { onChanged: () => undefined, onDamaged: () => undefined, onRebuilt: () => undefined };
  const files = openFiles(testFolder(t), 'ada', reports, () => new Date(clock()).toISOString());
  t.teardown(() => files.chat.close());
  return owned(files.conversation);
});

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  const world = await migrated(t); // each law has a block of its own in it
  let blocks = 0;
  conversationSuite(t, 'PostgreSQL', async (_law, clock) => {
    const node = await Membership.join(world.database, { version: '1.0.0', url: null });
    blocks += 1;
    const name = `ada${blocks}`;
    const claim = await node.take({ name, block: await blockIn(world, name) });
    if ('heldBy' in claim) throw new Error('somebody has it');
    return owned(new PostgresConversation({ database: world.database, block: claim.block, at: () => new Date(clock()).toISOString() }), claim);
  });
});
