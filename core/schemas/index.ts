// The schemas of every resource. Outside the core they are one name, `schemas`; the types of their resources are in core/types.ts. Pure: no I/O.
export * from './adapter.ts';
export * from './block-api.ts';
export * from './block-config.ts';
export * from './block-costs.ts';
export * from './block-memory.ts';
export * from './block-pulse.ts';
export * from './chat.ts';
export * from './chat-api.ts';
export * from './chat-entry.ts';
export * from './connections.ts';
export * from './credentials.ts';
export * from './embed.ts';
export * from './error.ts';
export * from './gateway-api.ts';
export * from './gateway-live.ts';
export * from './prices.ts';
export * from './session.ts';
export * from './tools-api.ts';
export * from './workspace-api.ts';
/** The frames of the WebSocket, which has a contract of its own. */
export * as frames from './ws.ts';
