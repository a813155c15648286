// What the page is made of. app/compose.ts makes it before anything is drawn.
import type { Drafts } from './drafts.ts';
import type { Means } from './open-block.ts';
import type { Outbox } from './outbox.ts';
import type { Session } from './session.ts';
import type { Socket } from './socket.ts';

/** Each of these exists once. */
export interface Services {
  readonly session: Session;
  readonly socket: Socket;
  readonly drafts: Drafts;
  readonly outbox: Outbox;
  /** What blocks are followed with. */
  readonly means: Means;
}

export let session: Session;
export let socket: Socket;
export let drafts: Drafts;
export let outbox: Outbox;
export let means: Means;

/** To be called once, first. */
export function provide(services: Services): void {
  ({ session, socket, drafts, outbox, means } = services);
}
