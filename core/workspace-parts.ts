// What a held workspace is made of, as one module: workspace-session.ts loads all of it at once, after it has the lock.
export { createWorkspaceBlocks } from './block/blocks.ts';
export { HaltSwitch } from './block/halt.ts';
export { HeartbeatWheel } from './block/heartbeats.ts';
export { StepCounter } from './block/reply-stream.ts';
export { Prices } from './gateway/pricing.ts';
export { GatewayAccounts } from './keys/gateway-accounts.ts';
export { ModelCalls } from './monitor/model-call.ts';
export { GatewayLedger } from './workspace/gateway-ledger.ts';
export { Ledger } from './workspace/ledger.ts';
export { FolderWatches } from './workspace/watch.ts';
