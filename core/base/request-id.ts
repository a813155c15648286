// Ids of requests, and numbers of their calls, by which what is told of one call is found together: a request may make several, and its client may use the id twice.
//
// of-one-process: the numbers of a process begin at a place of its own, so that workers of one server have no number in common.
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

/** More calls than a process makes in its life, and few enough that all numbers are exact. */
const SPAN = 2 ** 32;
const PLACES = 2 ** 20;

let last = Math.floor(Math.random() * PLACES) * SPAN; // of-one-process

/** A number that no other call of this server has. */
export function newCallNumber(): number {
  last += 1;
  return last;
}
