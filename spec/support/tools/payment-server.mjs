// A real program with tools, in a process of its own: a book of payments in a file, to which each effect adds one line. It reads one call a line from standard input
// and answers with one line. Its arguments say when it is slow and where it breaks off.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const [book] = process.argv.slice(2);

const lines = () =>
  existsSync(book)
    ? readFileSync(book, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];

/** One effect: one line. */
const add = (line) => appendFileSync(book, `${JSON.stringify(line)}\n`);

const TOOLS = {
  /** Not repeatable: each call is a payment. */
  pay: ({ to, amount }, callId) => {
    add({ pay: to, amount, callId });
    return `Paid ${amount} to ${to}.`;
  },
  /** Asks who pays, and pays with the answer. */
  pay_asked: ({ to, amount }, callId) => {
    add({ pay: to, amount, callId });
    return `Paid ${amount} to ${to}, as asked.`;
  },
  /** Keeps to a key: the same one again changes nothing. */
  pay_once: ({ to, amount, key }, callId) => {
    if (!lines().some((line) => JSON.parse(line).key === key)) add({ pay: to, amount, key, callId });
    return `Paid ${amount} to ${to} once.`;
  },
  /** Idempotent: sets what is set. Each call is told in the book, so that a test sees it. */
  set_limit: ({ limit }, callId) => {
    add({ limit, callId });
    return `The limit is ${limit}.`;
  },
  list: () => lines().join('\n') || 'No payments.',
  long: ({ characters }) => 'x'.repeat(characters),
  fail: () => {
    throw new Error('The bank is closed.');
  },
};

/** Tasks outlive this process. Each is a line: its effect is made when it begins. */
const TASK_MS = 40;
const tasks = `${book}.tasks`;
const taskOf = (taskId) => {
  const lines = existsSync(tasks) ? readFileSync(tasks, 'utf8').trimEnd().split('\n') : [];
  return lines.map((line) => JSON.parse(line)).find((task) => task.taskId === taskId);
};

async function take({ id, tool, args, callId, taskId, answers }) {
  if (tool === 'pay_asked') {
    if (answers === undefined) {
      process.stdout.write(`${JSON.stringify({ id, isError: false, asks: true })}\n`);
      return;
    }
    appendFileSync(`${book}.answers`, `${JSON.stringify({ callId, answers })}\n`);
  }
  if (taskId !== undefined) {
    const task = taskOf(taskId);
    const text = task === undefined ? undefined : `Paid ${task.args.amount} to ${task.args.to}.`;
    process.stdout.write(`${JSON.stringify({ id, isError: false, text, isGone: task === undefined, isWorking: Date.now() < (task?.at ?? 0) + TASK_MS })}\n`);
    return;
  }
  if (tool === 'pay_later') {
    const made = { taskId: `t-${callId}-${Math.random()}`, at: Date.now(), args };
    appendFileSync(tasks, `${JSON.stringify(made)}\n`);
    add({ pay: args.to, amount: args.amount, callId });
    process.stdout.write(`${JSON.stringify({ id, isError: false, taskId: made.taskId })}\n`);
    return;
  }
  await delay(args.delayMs ?? 0);
  if (args.break === 'before') process.exit(1);
  try {
    const text = TOOLS[tool](args, callId);
    if (args.break === 'after') process.exit(1);
    await delay(args.answerAfterMs ?? 0);
    process.stdout.write(`${JSON.stringify({ id, isError: false, text })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ id, isError: true, text: error.message })}\n`);
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void take(JSON.parse(line)));
