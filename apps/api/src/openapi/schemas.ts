import * as protocol from '@yardmaster/protocol';
import { z } from 'zod';

/** A schema in the form of JSON Schema 2020-12, which OpenAPI 3.1 also uses. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Schemas that have a name in the document; wherever they occur, the document refers to that name. */
const NAMED = {
  NewJob: protocol.createJobRequest,
  Poll: protocol.pollRequest,
  Progress: protocol.progressRequest,
  Completion: protocol.completeRequest,
  Failure: protocol.failRequest,
  Kill: protocol.killRequest,
  LogBatch: protocol.logBatch,
  LogLines: protocol.newLogs,
  NewLogEntry: protocol.newLog,
  KeyRequest: protocol.createKeyRequest,
  Job: protocol.job,
  ListedJob: protocol.listedJob,
  JobList: protocol.jobList,
  JobWithEvents: protocol.jobWithEvents,
  JobEvent: protocol.jobEvent,
  ClaimedJob: protocol.claimedJob,
  PolledJobs: protocol.polledJobs,
  ClaimOutcome: protocol.claimOutcome,
  LatestProgress: protocol.latestProgress,
  LogEntry: protocol.logEntry,
  LogsPage: protocol.logsPage,
  AppendedLogs: protocol.appendedLogs,
  SpaceStats: protocol.spaceStats,
  NameStats: protocol.nameStats,
  ApiKey: protocol.apiKey,
  ApiKeyList: protocol.apiKeyList,
  NewApiKey: protocol.newApiKey,
  CallbackSecretList: protocol.callbackSecretList,
  Done: protocol.doneResponse,
  Error: protocol.errorResponse,
  JobStatus: protocol.jobStatus,
  Timestamp: protocol.instant,
} satisfies Record<string, z.ZodType>;

const names = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(NAMED)) names.add(schema as z.ZodType, { id });

const refTo = (name: string) => `#/components/schemas/${name}`;

/** Return the `components.schemas` of the document. */
export function namedSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(names, { ...OPTIONS, uri: refTo });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

/** Return a schema as callers write it: by its name where it has one, else in full. */
export function shown(schema: z.ZodType): JsonSchema {
  const name = names.get(schema)?.id;
  if (name !== undefined) return { $ref: refTo(name) };
  const { $schema: _, ...json } = z.toJSONSchema(schema, OPTIONS);
  return json;
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** Describe in JSON Schema what zod cannot derive. */
const override: Override = ({ zodSchema, jsonSchema }) => {
  const standIn = protocol.openApiSchemaOf(zodSchema);
  if (standIn !== null) replace(jsonSchema, { ...shown(standIn), ...told(jsonSchema) });
  // zod leaves a default out when its value is transformed into another; a number or null stays what it is.
  const { def } = zodSchema._zod;
  if (def.type === 'default' && isPlain(def.defaultValue)) jsonSchema.default = def.defaultValue;
};

const isPlain = (value: unknown) => value === null || typeof value === 'number';

const told = ({ description }: JsonSchema) => (description === undefined ? {} : { description });

function replace(target: JsonSchema, source: JsonSchema): void {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, source);
}

// What zod cannot express becomes `{}`; a test finds what is still `{}`. Input: what callers send, in which unknown
// fields are ignored. Responses have no other output, and later releases may add fields to them.
const OPTIONS = { io: 'input', unrepresentable: 'any', override } as const;
