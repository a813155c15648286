// What only workspaces with targets of notifications need, as one module that is loaded with the first of them.
export { Notifications } from './notifications.ts';
export { assertTargetName, MAX_TARGETS, settledTarget, targetIn } from './targets.ts';
