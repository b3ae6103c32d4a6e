import type { SpaceList } from '@yardmaster/protocol';
import { call } from '../api/client.js';

export type Space = SpaceList['spaces'][number];

/** Most spaces that the pages show. */
export const SPACES_MAX = 500;

/** Load the spaces that have jobs, at most SPACES_MAX, by name. */
export async function loadSpaces(signal: AbortSignal): Promise<Space[]> {
  const spaces: Space[] = [];
  let cursor: string | null = null;
  do {
    const page: SpaceList = await call('GET', 'spaces', { query: { limit: 100, cursor }, signal });
    spaces.push(...page.spaces);
    cursor = page.nextCursor;
  } while (cursor !== null && spaces.length < SPACES_MAX);
  return spaces.sort((a, b) => (a.spaceId < b.spaceId ? -1 : 1));
}
