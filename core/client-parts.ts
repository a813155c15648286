// What a command needs of the core that asks the running server, as one module: the settings of a process, and who holds a workspace. It loads a tenth of the core,
// so a module of the CLI that every command may load imports this one instead of the index.
export { isToOtherUser, ownerOf } from './auth/socket-owner.ts';
export { ApiToken } from './auth/token.ts';
export { createBus } from './bus.ts';
export { resolveProcessConfig } from './config.ts';
export { BlockhouseError, errorBody } from './errors.ts';
export { FILE_LOOK_MS } from './store/files/fresh-file.ts';
export { readLock } from './store/files/lock.ts';
export { openSettings } from './store/open.ts';
export { VERSION } from './version.ts';
