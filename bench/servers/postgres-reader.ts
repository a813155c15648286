// A server of a workspace in PostgreSQL that has no blocks, in a process of its own, until its parent ends it: node postgres-reader.ts <store>
import { createBus } from '../../core/bus.ts';
import { connectPostgres } from '../../core/store/postgres/postgres-store.ts';

const [, , place = ''] = process.argv;
const lock = { announce: async () => undefined, release: async () => undefined };
const store = await (await connectPostgres(place)).open({ workspace: '', bus: createBus(), now: Date.now, onLost: async () => undefined, lock });
process.on('disconnect', () => void store.close().then(() => process.exit(0)));
process.send?.('ready');
