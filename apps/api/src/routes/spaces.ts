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
const PAUSE = { 'The whole space': {}, 'Jobs of two names': { names: ['resize', 'crop'] } };

/** Return settings as responses show them, with what is paused at the moment. */
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
    description: 'Only what is set, and what is paused.',
    success: {
      schema: spaceSettings,
      examples: { 'Some are set': SETTINGS, 'None is set': {}, Paused: { paused: ['resize'] } },
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
    summary: 'Change settings of a space',
    description:
      'Changes what the body has, and keeps the rest; null sets a setting back. Every process knows the change within 5 s. `maxPending` and `maxBytes` that a key for every space has set can only be lowered with a key of the space. An unknown field is refused. The space need not have jobs.',
    input: json(settingsChange, {
      examples: { 'Some settings': SETTINGS, 'Without a limit again': { maxPending: null } },
      isStrict: true,
    }),
    success: { schema: spaceSettings, examples: { 'What is set now': SETTINGS } },
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
      'From now on no job of the space, or of these names, is claimed. Jobs can be created, and jobs that are delivered or running go on.',
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
      'Without names it ends every pause of the space, also those of single names. With names it ends only theirs: while the whole space is paused, their jobs stay paused.',
    input: json(pauseRequest, { examples: PAUSE, isStrict: true }),
    success: DONE,
    handler: ({ store, spaceId, input }) =>
      doneIf(resumeSpace(store, spaceId, input), { details: { names: input.names } }),
  }),
];
