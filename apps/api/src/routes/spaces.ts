import {
  type JsonObject,
  pauseRequest,
  type SpaceSettings,
  settingsChange,
  shownSettings,
  spaceSettings,
} from '@yardmaster/protocol';
import { changeSettings, pauseSpace, readPaused, readSettings, resumeSpace, type Store } from '@yardmaster/store';
import { Reply } from '../call.js';
import { json } from '../input/input.js';
import { DONE, doneIf, type Route, route } from './route.js';

const SETTINGS = {
  retention: { completedSeconds: 3600, deadSeconds: 2_592_000 },
  maxPending: 10_000,
  maxBytes: 1_073_741_824,
  defaults: { maxRetries: 5, retry: { delaySeconds: 10, factor: 2 } },
  requireDeliveryToken: true,
};
const PAUSE = { 'The whole space': {}, 'Jobs with two names': { names: ['resize', 'crop'] } };

/** Format settings for a response, with what is currently paused. */
async function shown(store: Store, spaceId: string, settings: SpaceSettings) {
  return shownSettings(settings, await readPaused(store, spaceId));
}

/** Endpoints for the operators of a space. */
export const SPACES: readonly Route[] = [
  route({
    operation: 'getSpaceSettings',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/settings',
    scopes: ['spaces:manage'],
    tag: 'Spaces',
    summary: 'Get the settings of a space',
    description: 'Returns only the settings that are set, and what is paused.',
    success: {
      schema: spaceSettings,
      examples: { 'Some settings': SETTINGS, 'No settings': {}, Paused: { paused: ['resize'] } },
    },
    handler: async ({ store, spaceId }) => shown(store, spaceId, await readSettings(store, spaceId)),
  }),
  route({
    operation: 'changeSpaceSettings',
    method: 'PATCH',
    path: '/api/v1/spaces/:spaceId/settings',
    scopes: ['spaces:manage'],
    audit: 'space.settings',
    tag: 'Spaces',
    summary: 'Change the settings of a space',
    description:
      "Changes the settings in the body and keeps the others; null resets a setting. All processes apply the change within 5 seconds. If `maxPending` or `maxBytes` was set with a key that isn't bound to a space, a space-bound key can only lower it. The space doesn't need to have jobs. Unknown fields are refused.",
    input: json(settingsChange, {
      examples: { 'Some settings': SETTINGS, 'Remove a limit': { maxPending: null } },
      isStrict: true,
    }),
    success: { schema: spaceSettings, examples: { 'All settings': SETTINGS } },
    async handler({ store, caller, spaceId, input }) {
      const { settings, isChanged } = await changeSettings(store, caller, spaceId, input);
      const act = isChanged ? { details: { ...input } as JsonObject } : null;
      return new Reply(await shown(store, spaceId, settings), { act });
    },
  }),
  route({
    operation: 'pauseSpace',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/pause',
    scopes: ['spaces:manage'],
    audit: 'space.pause',
    tag: 'Spaces',
    summary: 'Pause a space',
    description:
      'Stops claims in a space, or for certain names in it. You can keep creating jobs, and jobs that are delivered or running continue.',
    input: json(pauseRequest, { examples: PAUSE, isStrict: true }),
    success: DONE,
    handler: ({ store, spaceId, input }) =>
      doneIf(pauseSpace(store, spaceId, input), { details: { names: input.names } }),
  }),
  route({
    operation: 'resumeSpace',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/resume',
    scopes: ['spaces:manage'],
    audit: 'space.resume',
    tag: 'Spaces',
    summary: 'Resume a space',
    description:
      'Without `names`, resumes the space and all of its names. With `names`, resumes only these; if the whole space is paused, they stay paused.',
    input: json(pauseRequest, { examples: PAUSE, isStrict: true }),
    success: DONE,
    handler: ({ store, spaceId, input }) =>
      doneIf(resumeSpace(store, spaceId, input), { details: { names: input.names } }),
  }),
];
