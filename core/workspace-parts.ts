// What a held workspace is made of, as one module: workspace-session.ts loads all of it at once, after it has the lock. The sides of several processes are here too,
// because code that two such modules share would be files of its own for every start.
export { createWorkspaceBlocks } from './block/blocks.ts';
export { HaltSwitch } from './block/halt.ts';
export { ModelCalls } from './block/reply/call-model.ts';
export { StepCounter } from './block/reply/reply-stream.ts';
export { HeartbeatWheel } from './block/status/heartbeats.ts';
export { DebuggedKeys } from './keys/debugged-keys.ts';
export { GatewayAccounts } from './keys/gateway-accounts.ts';
export { Notify } from './notify/notify.ts';
export { Schedules } from './schedule/schedules.ts';
export { Primary } from './workers/primary.ts';
export { Worker } from './workers/worker.ts';
