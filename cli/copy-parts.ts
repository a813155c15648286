// What `blockhouse copy` needs of the core. No program imports it, so it is in the bundle alone.
export { type CopyComparison, type CopyOptions, type CopyProgress, type CopyReport, compareWorkspaces, copyWorkspace } from '../core/store/copy.ts';
