import type { Schedule } from '@yardmaster/protocol';
import { partitionOf } from '@yardmaster/store';
import type { TestService } from '../support/service.js';

export const MINUTE = 60_000;
export const EVERY_MINUTE = '* * * * *';

/** Calls about the schedules of a space. */
export const schedulesOf = (service: TestService, spaceId: string) => {
  const call = (method: string, path = '', body?: unknown) =>
    service.call(method, `/spaces/${spaceId}/schedules${path}`, { body });
  return {
    call,
    /** Create or change a schedule, which must be accepted. */
    async put(id: string, body: object): Promise<Schedule> {
      const response = await call('PUT', `/${id}`, { job: { name: 'work' }, ...body });
      if (response.status >= 300) throw new Error(`not put: ${response.text}`);
      return response.body;
    },
    get: async (id: string): Promise<Schedule & { upcoming: string[] }> => (await call('GET', `/${id}`)).body,
    /** List the jobs of a schedule, oldest first. */
    jobs: async (id: string, query = '') =>
      (await service.call('GET', `/spaces/${spaceId}/jobs?schedule=${id}&order=asc${query}`)).body,
    /** Set the next time of a schedule, which fires at once if it has passed. @param at epoch milliseconds */
    async setNext(id: string, at: number): Promise<void> {
      const { redis, store } = service;
      await redis.hset(store.keys.schedule(spaceId, id), 'nextAt', at);
      await redis.zadd(store.keys.schedules(partitionOf(spaceId)), at, `${spaceId}/${id}`);
    },
  };
};

/** Return the start of the minute that was this many minutes ago, epoch milliseconds. */
export const minutesAgo = (minutes: number) => (Math.floor(Date.now() / MINUTE) - minutes) * MINUTE;
export const iso = (ms: number) => new Date(ms).toISOString();
