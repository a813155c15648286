// Every sentence of the page, by the page that says it.
export * from './text/archive.ts';
export * from './text/block.ts';
export * from './text/common.ts';
export * from './text/config.ts';
export * from './text/costs.ts';
export * from './text/events.ts';
export * from './text/first-run.ts';
export * from './text/fleet.ts';
export * from './text/gateway.ts';
export * from './text/head.ts';
export * from './text/labels.ts';
export * from './text/logs.ts';
export * from './text/memory.ts';
export * from './text/playground.ts';
export * from './text/plot.ts';
export * from './text/settings.ts';
export * from './text/stand-in.ts';
