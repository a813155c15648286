// What `blockhouse copy` needs of the core. No program imports it, so it is in the bundle alone.
//
// with-the-start: what it shares with the start of a server stays in one file with the rest of that, because a start that loads many files is slow.
import './compose.ts';
import '../core/store/files/file-store.ts';

export { type CopyComparison, type CopyOptions, type CopyProgress, type CopyReport, compareWorkspaces, copyWorkspace } from '../core/store/copy.ts';
