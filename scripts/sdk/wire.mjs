// Generate the types of requests and responses for the SDKs from the OpenAPI document, the list of events that end a worker's
// attempt, and the synchronous client of the Python SDK.
//
//   node scripts/sdk/wire.mjs           write them
//   node scripts/sdk/wire.mjs --check   fail if one is stale
//
// Run `npm run build` first. The types are the schemas in TYPES and all schemas that they refer to.
import { readFileSync, writeFileSync } from 'node:fs';
import { JOB_LOST_EVENTS } from '@yardmaster/protocol';
import { openApiDocument } from '../../apps/api/dist/openapi/document.js';
import { ROUTES } from '../../apps/api/dist/routes/index.js';
import { root } from '../set-up.mjs';
import { goTypes } from './go.mjs';
import { modelOf } from './model.mjs';
import { pythonTypes } from './python.mjs';
import { pythonSync } from './python-sync.mjs';
import { typeScriptTypes } from './typescript.mjs';

const TYPES = [
  ...['CreateJob', 'Job', 'JobWithEvents', 'JobSummary', 'KnownJob', 'ListedJob', 'Kill', 'Reschedule', 'Release'],
  ...['Poll', 'PolledJobs', 'Outcome', 'Settle', 'SettleResults', 'LatestProgress', 'SpaceStats'],
  ...['Requeue', 'Copy', 'Pause', 'OperationRequest', 'Operation', 'SpaceList', 'StreamTokenRequest', 'StreamToken'],
  ...['LogEntry', 'LogEntryFields', 'AppendedLogs', 'LogsPage', 'Error'],
  ...['ScheduleList', 'ScheduleWithTimes', 'ScheduleRequest', 'SchedulePause', 'ScheduleRun'],
  ...['SchedulesRequest', 'SchedulesChange'],
];

/** SDK names of schemas whose own names would shadow a name of a language, or a field of a response. */
const RENAMED = { Error: 'ErrorBody' };

/** In the document, limits are part of descriptions and not of the types. */
const NO_LIMITS = { sizes: {}, kept: {} };

const { components } = openApiDocument(ROUTES, NO_LIMITS);
// A client returns a Job when it omits the history.
components.schemas.JobWithEvents.required.push('events');
const model = modelOf(components.schemas, TYPES, RENAMED);
const TITLE = 'Types of the requests and responses of Yardmaster, made by scripts/sdk/wire.mjs. Do not edit.';

const lost = [...JOB_LOST_EVENTS].sort();
const LOST = 'Types of the events that tell a worker that it no longer has its job';

const files = {
  ...pythonSync(),
  'sdk/typescript/src/wire.generated.ts': `${typeScriptTypes(model, TITLE)}
/** ${LOST}. */
export const JOB_LOST_EVENTS = [${lost.map((type) => `'${type}'`).join(', ')}] as const;
`,
  'sdk/python/src/yardmaster/_wire.py': `${pythonTypes(model, TITLE)}
#: ${LOST}.
JOB_LOST_EVENTS = (${lost.map((type) => `"${type}"`).join(', ')})
`,
  'sdk/go/wire/wire.go': `${goTypes(model)}
// JobLostEvents: ${LOST.toLowerCase()}.
var JobLostEvents = []JobEventType{${lost.map((type) => `"${type}"`).join(', ')}}
`,
};
const current = (file) => {
  try {
    return readFileSync(root + file, 'utf8');
  } catch {
    return '';
  }
};
for (const [file, text] of Object.entries(files)) {
  if (current(file) === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${file} is stale: run node scripts/sdk/wire.mjs\n`);
    process.exitCode = 1;
  } else writeFileSync(root + file, text);
}
