// Every sentence of the page, by the page that says it.
export * from './archive.ts';
export * from './block.ts';
export * from './common.ts';
export * from './config.ts';
export * from './costs.ts';
export * from './events.ts';
export * from './first-run.ts';
export * from './fleet.ts';
export * from './gateway.ts';
export * from './head.ts';
export * from './labels.ts';
export * from './logs.ts';
export * from './memory.ts';
export * from './playground.ts';
export * from './plot.ts';
export * from './settings.ts';
export * from './stand-in.ts';
