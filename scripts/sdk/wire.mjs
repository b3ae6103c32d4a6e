// Write the types of requests and responses for the SDKs, from the OpenAPI document, and which events end a worker's attempt.
// Write the synchronous client of the Python SDK as well.
//
//   node scripts/sdk/wire.mjs           write them
//   node scripts/sdk/wire.mjs --check   fail when one is stale
//
// Run `npm run build` first. The types are those of the schemas in TYPES and of all schemas to which they refer.
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
];

/** Names in the SDKs of schemas whose own names would hide one of a language, or that of a field of a response. */
const RENAMED = { Error: 'ErrorBody' };

/** Limits are part of descriptions in the document, and not of the types. */
const NO_LIMITS = { sizes: {}, kept: {} };

const { components } = openApiDocument(ROUTES, NO_LIMITS);
// A client returns a Job when it leaves the history out.
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
