// Every route of the server.
import * as archive from './handlers/archive.ts';
import * as blocks from './handlers/blocks.ts';
import * as chat from './handlers/chat.ts';
import * as gateway from './handlers/gateway.ts';
import * as memory from './handlers/memory.ts';
import * as server from './handlers/server.ts';
import * as workspace from './handlers/workspace.ts';
import type { Route } from './router.ts';
import type { SseTiming } from './sse.ts';

const BLOCKS: readonly Route[] = [
  { method: 'GET', path: '/api/blocks', handler: blocks.list },
  { method: 'POST', path: '/api/blocks', handler: blocks.create },
  { method: 'GET', path: '/api/blocks/:name', handler: blocks.details },
  { method: 'DELETE', path: '/api/blocks/:name', handler: blocks.archive },
  { method: 'GET', path: '/api/blocks/:name/why', handler: blocks.why },
  { method: 'POST', path: '/api/blocks/:name/start', handler: blocks.start },
  { method: 'POST', path: '/api/blocks/:name/stop', handler: blocks.stop },
  { method: 'POST', path: '/api/blocks/:name/restart', handler: blocks.restart },
  { method: 'POST', path: '/api/blocks/:name/reset', handler: blocks.reset },
  { method: 'GET', path: '/api/blocks/:name/config', handler: blocks.config },
  { method: 'PUT', path: '/api/blocks/:name/config', handler: blocks.updateConfig },
  { method: 'GET', path: '/api/blocks/:name/logs', handler: blocks.logs },
  { method: 'POST', path: '/api/blocks/:name/chat', handler: chat.post },
  { method: 'GET', path: '/api/blocks/:name/chat', handler: chat.history },
  { method: 'GET', path: '/api/blocks/:name/chat/:id', handler: chat.find },
  { method: 'POST', path: '/api/blocks/:name/chat/:id/cancel', handler: chat.cancel },
  { method: 'POST', path: '/api/blocks/:name/chat/:id/retry', handler: chat.retry },
  { method: 'POST', path: '/api/blocks/:name/memory/facts', handler: memory.addFact },
  { method: 'DELETE', path: '/api/blocks/:name/memory/facts/:id', handler: memory.removeFact },
  { method: 'POST', path: '/api/blocks/:name/memory/compact', handler: memory.compact },
  { method: 'POST', path: '/api/blocks/:name/memory/undo', handler: memory.undo },
];

const ARCHIVE: readonly Route[] = [
  { method: 'GET', path: '/api/archive', handler: archive.list },
  { method: 'POST', path: '/api/archive/:name/restore', handler: archive.restore },
  { method: 'DELETE', path: '/api/archive/:name', handler: archive.purge },
  { method: 'GET', path: '/api/blocks/:name/export', handler: archive.exportBlock },
  { method: 'POST', path: '/api/import', handler: archive.importBlock },
];

const WORKSPACE: readonly Route[] = [
  { method: 'GET', path: '/api/costs', handler: workspace.costs },
  { method: 'GET', path: '/api/doctor', handler: workspace.doctor },
  { method: 'GET', path: '/api/halt', handler: workspace.halted },
  { method: 'POST', path: '/api/halt', handler: workspace.halt },
  { method: 'DELETE', path: '/api/halt', handler: workspace.unhalt },
];

export function routes(timing: SseTiming): Route[] {
  return [
    { method: 'GET', path: '/v1/health', public: true, handler: gateway.health },
    { method: 'GET', path: '/v1/adapters', handler: gateway.adapters },
    { method: 'GET', path: '/v1/adapters/:provider/models', handler: gateway.models },
    { method: 'POST', path: '/v1/adapters/:provider/verify', handler: gateway.verify },
    { method: 'POST', path: '/v1/chat', handler: gateway.chat(timing) },
    { method: 'GET', path: '/api/health', public: true, handler: server.health },
    { method: 'GET', path: '/api/auth/status', public: true, handler: server.authStatus },
    { method: 'GET', path: '/openapi.json', handler: server.openApi },
    ...BLOCKS,
    ...ARCHIVE,
    ...WORKSPACE,
  ];
}
