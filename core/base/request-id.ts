// Ids of requests.
import { randomFillSync } from 'node:crypto';

const ID_BYTES = 12;
/** Random bytes for many ids: a system call for each id would double its cost. */
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

/** 96 random bits, so ids don't collide; they have no order. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return `req_${pool.toString('hex', used - ID_BYTES, used)}`;
}
