import { writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBlock } from './support/block-calls.ts';
import { startServer } from './support/server.ts';
t.test('x', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'good');
  await createBlock(server, 'bad');
  console.error((await server.call('GET', '/api/blocks')).text);
  writeFileSync(join(server.workspace, 'blocks/bad/config.json'), '{"name":');
  for (let i=0;i<5;i++){ const s=performance.now(); const a = await Promise.race([server.call('GET', '/api/blocks'), new Promise(r=>setTimeout(r,3000,'TIMEOUT'))]); console.error(i,(performance.now()-s).toFixed(0), (a as any).text ?? a); await new Promise(r=>setTimeout(r,1200)); }
  console.error(readdirSync(join(server.workspace,'blocks/bad')));
  console.error(JSON.stringify(server.log.filter(l=>l.level!=='debug')));
});
