// What a held workspace is made of, as one module: workspace-session.ts loads all of it at once, after it has the lock.
export { createWorkspaceBlocks } from './block/blocks.ts';
export { HaltSwitch } from './block/halt.ts';
export { ModelCalls } from './block/reply/call-model.ts';
export { StepCounter } from './block/reply/reply-stream.ts';
export { HeartbeatWheel } from './block/status/heartbeats.ts';
export { GatewayAccounts } from './keys/gateway-accounts.ts';
