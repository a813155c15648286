// What servers of the tests do with tasks (the extension io.modelcontextprotocol/tasks of 2026-07-28). A desk keeps its tasks in a file, so that they outlive its process.
// What a call does is the name of its tool. Each request is a line of the file `note`, each effect one of `book`.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

const CALL_ID = 'dev.blockhouse/callId';
const complete = (text, more = {}) => ({ resultType: 'complete', content: [{ type: 'text', text }], ...more });

/** The tools, with what becomes of a task of each once its time is over. */
const TOOLS = {
  pay: { end: ({ to }) => ({ status: 'completed', result: complete(`Paid ${to}.`) }) },
  forever: { workMs: Number.POSITIVE_INFINITY, cancel: 'ignored' },
  slow: { workMs: Number.POSITIVE_INFINITY },
  stubborn: { workMs: 300, cancel: 'ignored', end: () => ({ status: 'completed', result: complete('It was too late to cancel.') }) },
  big: { end: ({ bytes }) => ({ status: 'completed', result: complete('x'.repeat(bytes)) }) },
  wrong: { end: () => ({ status: 'completed', result: complete('The amount is missing.', { isError: true }) }) },
  failing: { end: () => ({ status: 'failed', error: { code: -32603, message: 'The bank is closed.' } }) },
  odd: { end: () => ({ status: 'completed', result: complete('odd') }) },
  twin: { workMs: 400, id: () => 'twin', end: () => ({ status: 'completed', result: complete('one of two') }) },
  long: { id: ({ length }) => 'i'.repeat(length), end: () => ({ status: 'completed', result: complete('long') }) },
  renamed: { answer: (task) => ({ ...task, taskId: `${task.taskId}x` }) },
  nonsense: { answer: () => ({ status: 'finished' }) },
  /** It asks until it is answered, and once more for what it was just told. */
  asking: { asks: true, end: (_, { answers }) => ({ status: 'completed', result: complete(JSON.stringify(answers)) }) },
  gone: { error: () => ({ code: -32602, message: 'Task not found' }) },
  unspoken: { error: ({ code }) => ({ code, message: 'Missing required client capability' }) },
  stumbling: {
    error: (_, asked) => (asked <= 3 ? { code: -32603, message: 'Try again' } : undefined),
    end: () => ({ status: 'completed', result: complete('at last') }),
  },
  needing: { refuse: { code: -32003, message: 'Missing required client capability' } },
};

/** A form with one field. */
export const WHO = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Who are you?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
};

export const NAMES = Object.keys(TOOLS);

export function taskDesk({ file, note, book }) {
  const tell = (text) => note !== undefined && appendFileSync(note, `${text}\n`);
  const read = () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
  const write = (tasks) => writeFileSync(file, JSON.stringify(tasks));
  const seedOf = ({ taskId, args, createdAt }) => ({
    taskId,
    status: 'working',
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: args.ttlMs === undefined ? null : args.ttlMs,
    ...(args.says === undefined ? {} : { statusMessage: args.says }),
    ...(args.pollMs === undefined ? { pollIntervalMs: 100 } : { pollIntervalMs: args.pollMs }),
  });
  const shown = (task) => {
    const { tool, args, createdAt, cancelledAt } = task;
    const { workMs = args.workMs ?? 30, end, answer, cancel, asks } = TOOLS[tool];
    const seed = seedOf(task);
    if (cancelledAt !== undefined && cancel !== 'ignored') return { ...seed, status: 'cancelled', statusMessage: 'As you wished.' };
    if (answer !== undefined) return answer(seed);
    if (asks && (task.answers === undefined || task.isBehind)) return { ...seed, status: 'input_required', inputRequests: { who: WHO } };
    return end !== undefined && Date.now() - createdAt >= workMs ? { ...seed, ...end(args, task) } : seed;
  };
  return {
    /** As the answer to a request: `{result}` or `{error}`; undefined for a method that it does not have. */
    answer(method, params) {
      if (method === 'tools/call') return this.call(params);
      if (method !== 'tasks/get' && method !== 'tasks/cancel' && method !== 'tasks/update') return undefined;
      const { taskId } = params;
      tell(`${method} ${taskId.slice(0, 60)}`);
      const tasks = read();
      const task = Object.hasOwn(tasks, taskId) ? tasks[taskId] : undefined;
      if (task === undefined) return { error: { code: -32602, message: 'Task not found' } };
      task.asked += 1;
      if (method === 'tasks/cancel') task.cancelledAt ??= Date.now();
      if (method === 'tasks/update') Object.assign(task, { answers: params.inputResponses, isBehind: true });
      else task.isBehind = task.isBehind === true && task.asked < 5;
      write(tasks);
      if (method !== 'tasks/get') return { result: { resultType: 'complete' } };
      const error = TOOLS[task.tool].error?.(task.args, task.asked);
      return error === undefined ? { result: { resultType: 'complete', ...shown(task) } } : { error };
    },
    call({ name, arguments: args = {}, _meta }) {
      const declared = _meta['io.modelcontextprotocol/clientCapabilities']?.extensions ?? {};
      tell(`tools/call ${name} ${Object.keys(declared).join()}`);
      const { id, refuse } = TOOLS[name];
      if (refuse !== undefined) return { error: refuse };
      if (args.direct === true) return { result: complete('at once') };
      if (book !== undefined) appendFileSync(book, `${JSON.stringify({ tool: name, callId: _meta[CALL_ID] })}\n`);
      const tasks = read();
      const taskId = id?.(args) ?? `task-${Object.keys(tasks).length + 1}`;
      const task = { taskId, tool: name, args, createdAt: Date.now(), asked: 0 };
      write({ ...tasks, [taskId]: task });
      return { result: { ...seedOf(task), resultType: 'task' } };
    },
  };
}
