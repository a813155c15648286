// What `blockhouse copy` needs of the core. No program imports it, so it is in the bundle alone.
//
// with-the-start: the last two are not used. With them, what the copy shares with the start of a server stays in one file with the rest of that; a start that loads many files is slow.
export { type CopyComparison, type CopyOptions, type CopyProgress, type CopyReport, compareWorkspaces, copyWorkspace } from '../core/store/copy.ts';
export { FileStore } from '../core/store/files/file-store.ts';
export { startServer } from './compose.ts';
