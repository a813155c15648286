// A server of tools that makes a task of each call, in a process of its own. Its only argument is JSON: the files of its desk, and what it does besides.
import { createInterface } from 'node:readline';
import { NAMES, taskDesk } from './task-desk.mjs';

const { exitAfter, flood = 0, ...files } = JSON.parse(process.argv[2] ?? '{}');
const desk = taskDesk(files);
const serverInfo = { name: 'tasks', version: '1' };
const capabilities = { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const listed = (name) => ({ name, description: `The tool ${name}.`, inputSchema: { type: 'object' } });
let asked = 0;

function answer({ method, params }) {
  if (method === 'server/discover')
    return {
      result: {
        ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities, ttlMs: 0, cacheScope: 'private' },
        _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
      },
    };
  if (method === 'tools/list') return { result: { resultType: 'complete', tools: NAMES.map(listed), ttlMs: 0, cacheScope: 'private' } };
  return desk.answer(method, params) ?? { error: { code: -32601, message: 'Method not found' } };
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined) return;
    const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks', params: { taskId: 'task-1', status: 'completed' } });
    if (message.method === 'tasks/get') process.stdout.write(`${note}\n`.repeat(flood));
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer(message) })}\n`, () => {
      if (message.method !== 'tasks/get') return;
      asked += 1;
      if (asked === exitAfter) process.exit(1);
    });
  })
  .on('close', () => process.exit(0));
