import { SPACE_ID } from './jobs.js';
import type { Target } from './target.js';

/** A constant, so that each run makes the same calls. */
const SEED = 20_260_801;

/** Write the configuration of a run. TOML writes lists of strings as JSON does. */
export function configOf({ adminKey, jobs, keyIds }: Pick<Target, 'adminKey' | 'jobs' | 'keyIds'>): string {
  const { '': ofOthers = [], ...ofTheirOwn } = jobs;
  return `seed = ${SEED}
hooks = "hooks"
color = false
continue-on-failure = true
request-timeout = 10

[auth.openapi.apiKey]
api_key = ${JSON.stringify(adminKey)}

# 431: Node refuses a URL of over 16 KB before anything else is read.
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 415, 422, 431]

# A canceled operation can still be read. Tests of each call check that what is deleted is gone.
use_after_free.enabled = false

[dictionaries]
space = { values = [${JSON.stringify(SPACE_ID)}] }
key = { values = ${JSON.stringify(keyIds)} }
job = { values = ${JSON.stringify(ofOthers)} }
${Object.entries(ofTheirOwn)
  .map(([operation, ids]) => `${operation} = { values = ${JSON.stringify(ids)} }`)
  .join('\n')}

# The other values are generated, and do not exist.
[parameters]
"path.spaceId" = { dictionary = "space", probability = 0.5 }
"path.keyId" = { dictionary = "key", probability = 0.5 }
"path.jobId" = { dictionary = "job", probability = 0.9 }
${Object.keys(ofTheirOwn)
  .map(
    (operation) => `
[[operations]]
include-operation-id = "${operation}"
parameters = { "path.jobId" = { dictionary = "${operation}", probability = 0.9 } }`,
  )
  .join('\n')}
`;
}

/** Rates of responses to calls with valid data: 2xx, 404, 409, and other 4xx. */
interface Rates {
  accepted: number;
  unreachable: number;
  conflicts: number;
  rejected: number;
}

/** The fields of a report that are used. */
interface Report {
  complete: boolean;
  operations: { total: number; tested: number };
  test_cases: { generated: number; unique_failures: number };
  errors: unknown[];
  /** By operation and phase. */
  valid_rates: Record<string, Record<string, Rates>>;
}

interface Aftermath {
  /** Faults that fsck found in Redis. */
  faults: readonly string[];
  /** Output of the process, which logs only errors. */
  output: string;
}

/** Judge by a report whether the API conforms to its document. @returns also lines to print */
export function resultOf(report: Report, { faults, output }: Aftermath): { lines: string[]; isGood: boolean } {
  const { complete, operations, test_cases: cases, errors } = report;
  const rates = Object.values(report.valid_rates).flatMap((phases) => Object.values(phases));
  const sum = (key: keyof Rates) => rates.reduce((total, rate) => total + rate[key], 0);
  // If an operation has never succeeded, its successful responses were never checked.
  const neverDone = Object.entries(report.valid_rates).filter(([, phases]) =>
    Object.values(phases).every(({ accepted }) => accepted === 0),
  );
  const problems = [
    ...(complete && operations.tested === operations.total ? [] : ['not all of it was run']),
    ...(cases.unique_failures > 0 ? [`${cases.unique_failures} failures`] : []),
    ...errors.map((error) => `error: ${JSON.stringify(error)}`),
    ...neverDone.map(([operation]) => `${operation} never succeeded`),
    ...(output === '' ? [] : [`the process has logged: ${output.slice(-4_000)}`]),
    ...faults.map((fault) => `fsck: ${fault}`),
  ];
  const lines = [
    `schemathesis: ${cases.generated} calls of ${operations.tested} operations, ${cases.unique_failures} failures, ${errors.length} errors`,
    `valid calls: ${sum('accepted')} accepted, ${sum('unreachable')} not found, ${sum('conflicts')} in conflict, ${sum('rejected')} rejected`,
    `fsck: ${faults.length} faults`,
    ...problems.map((problem) => `!! ${problem}`),
  ];
  return { lines, isGood: problems.length === 0 };
}
