// The calls of tools that run at this moment, of all blocks, as the server tells of them.
import { effect, signal } from '@preact/signals';
import { ownOf } from '../base/own.ts';
import { type Happened, onEvent } from './events.ts';
import { socket } from './services.ts';

/** A call that runs. */
export interface RunningCall {
  readonly block: string;
  readonly messageId: string;
  /** The step, and the number of the call in it. */
  readonly place: string;
  readonly tool: string;
  /** ISO 8601; undefined for one that has begun before this page. */
  readonly at?: string;
  /** How far it is, as its server says. */
  readonly said?: string;
}

export const running = signal<readonly RunningCall[]>([]);

/** Follows them until the page ends. After a connection is lost, nobody knows how they went on. */
export function runRunning(): void {
  onEvent((event) => {
    running.value = afterEvent(running.peek(), event);
  });
  effect(() => {
    if (socket.connection.value.state !== 'live') running.value = [];
  });
}

/** The calls after an event. Pure. */
export function afterEvent(calls: readonly RunningCall[], { name, at, data }: Pick<Happened, 'name' | 'at' | 'data'>): readonly RunningCall[] {
  const { block = '', id = '', call = '', tool = '' } = data as Readonly<Record<string, string>>;
  const isOf = (each: RunningCall): boolean => each.block === block && each.messageId === id;
  if (name === 'tool.called') return [...calls.filter((each) => !(isOf(each) && each.place === call)), { block, messageId: id, place: call, tool, at }];
  if (name === 'tool.progressed') {
    const known = calls.find((each) => isOf(each) && each.place === call);
    const next: RunningCall = { ...(known ?? { block, messageId: id, place: call, tool }), said: saidIn(data) };
    return known === undefined ? [...calls, next] : calls.map((each) => (each === known ? next : each));
  }
  const ends = { 'tool.finished': (each: RunningCall) => isOf(each) && each.place === call, 'message.finished': isOf, missed: () => true };
  const isOver = ownOf<(each: RunningCall) => boolean>(ends, name);
  return isOver !== undefined && calls.some(isOver) ? calls.filter((each) => !isOver(each)) : calls;
}

/** `3 of 10 Reading`. */
function saidIn({ progress, total, message }: Happened['data']): string {
  return [progress ?? '', total == null ? '' : `of ${total}`, message ?? ''].filter((part) => part !== '').join(' ');
}
