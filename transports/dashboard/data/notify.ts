// The targets of notifications: addresses that are told what needs a person.
import type { NotifyList, NotifySet, NotifyTarget, NotifyTest, SetNotifyTarget } from '../../../core/types.ts';
import { call, get, post } from './http.ts';

const pathOf = (name: string): string => `/api/notify/${encodeURIComponent(name)}`;

/** Each of these rejects with an ApiError. */
export async function readTargets(): Promise<readonly NotifyTarget[]> {
  return (await get<NotifyList>('/api/notify')).targets;
}

/** Resolves with the secret if one was made. */
export async function setTarget(name: string, body: SetNotifyTarget): Promise<string | undefined> {
  return (await call<NotifySet>('PUT', pathOf(name), { body })).data.secret;
}

export async function removeTarget(name: string): Promise<void> {
  await call('DELETE', pathOf(name));
}

export async function testTarget(name: string): Promise<NotifyTest> {
  return post<NotifyTest>(`${pathOf(name)}/test`);
}

export const NOTICES = ['approval.asked', 'message.failed', 'cap.reached', 'message.done'] as const;
