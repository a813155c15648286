import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { newConnection, takeSocket } from '../../adapters/connection.ts';

function opened() {
  const connection = newConnection();
  const socket = new PassThrough();
  takeSocket(connection, socket as unknown as Socket);
  return { connection, socket };
}

const textOf = (bytes: unknown): string | null => (bytes === null ? null : String(bytes));

t.test('no-continue: a 100 Continue before an answer is not read, wherever it is cut', async (t) => {
  const whole = 'HTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\n';
  for (let at = 1; at < whole.length; at += 1) {
    const { connection, socket } = opened();
    connection.awaitsAnswer = true;
    socket.write(whole.slice(0, at));
    const first = textOf(socket.read()) ?? '';
    socket.write(whole.slice(at));
    t.equal(first + (textOf(socket.read()) ?? ''), 'HTTP/1.1 200 OK\r\n', `cut at ${at}`);
    t.equal(connection.awaitsAnswer, false);
  }
});

t.test('no-continue: within an answer everything is read as it came', async (t) => {
  const { socket } = opened();
  socket.write('HTTP/1.1 100 Continue\r\n\r\n');
  t.equal(textOf(socket.read()), 'HTTP/1.1 100 Continue\r\n\r\n');
});

t.test('released: the reader of a connection hears of its end, however it ends', async (t) => {
  for (const end of ['destroy', 'end'] as const) {
    const { connection, socket } = opened();
    let released = 0;
    connection.release = () => {
      released += 1;
    };
    socket[end]();
    socket.resume();
    await new Promise(setImmediate);
    t.ok(released > 0, end);
  }
});
