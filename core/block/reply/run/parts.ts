// All that is loaded with the first message of a block with tools, as one module. cli/build.ts makes one file of it that shares none of its own with a start.
export { pageOf } from '../../../tools/builtin/read-result.ts';
export { approvalOf, approvalsOf } from './approvals.ts';
export { cancelTasksOf } from './cancel-tasks.ts';
export { cancelWaiting, endOldRun } from './close.ts';
export { decide } from './decide.ts';
export { runFor } from './run.ts';
export { skillOwners } from './run-skills.ts';
export { missingTools } from './run-tools.ts';
export { toolRules } from './tool-rules.ts';
export { decisionsOf, shownStored } from './shown.ts';
export { runsInProcess, waitFor } from './waiting.ts';
