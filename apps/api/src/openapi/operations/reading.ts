import type { Operation } from '../operation.js';
import { COMPLETED, EVENTS, JOB_ID, LISTED, PROGRESS, REPORTED, SPACE_ID } from '../samples.js';

/** Operations of clients that watch. */
export const READING = {
  getJob: {
    tag: 'Reading',
    summary: 'Get a job with its history',
    response: { 'A completed job': { ...COMPLETED, events: EVENTS } },
  },
  getProgress: {
    tag: 'Reading',
    summary: 'Get the progress of a job',
    description: 'The latest report of any attempt, and nothing else of the job.',
    response: {
      'On its way': { jobId: JOB_ID, progress: PROGRESS, timestamp: REPORTED },
      'Not reported yet': { jobId: JOB_ID, progress: null, timestamp: null },
    },
  },
  listJobs: {
    tag: 'Reading',
    summary: 'List the jobs of a space',
    description: 'Newest first, without callbacks and histories. Empty for a space that nobody has used.',
    response: { 'One job': [LISTED], 'No job': [] },
  },
  getStats: {
    tag: 'Reading',
    summary: 'Count the jobs of a space',
    description: 'By status and by name, all at one moment. All zeros for a space that nobody has used.',
    response: {
      'Two names': {
        spaceId: SPACE_ID,
        timestamp: REPORTED,
        jobs: { pending: 40, delivered: 1, running: 8, completed: 950, dead: 1, killed: 0, total: 1_000 },
        oldestPendingAgeSeconds: 12.25,
        names: [
          { name: 'resize', total: 900, pending: 40, oldestPendingAgeSeconds: 12.25 },
          { name: 'crop', total: 100, pending: 0, oldestPendingAgeSeconds: null },
        ],
        namesLeftOut: 0,
      },
    },
  },
} as const satisfies Record<string, Operation>;
