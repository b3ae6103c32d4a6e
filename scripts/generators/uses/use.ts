// A program that uses the types of openapi-typescript. It is only compiled.
import type { components, paths } from './schema.js';

type Schemas = components['schemas'];
type Body<Path extends keyof paths> = paths[Path] extends { post: { requestBody?: { content: infer Content } } }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : never
  : never;

export const created: Body<'/api/v1/spaces/{spaceId}/jobs'> = {
  name: 'resize',
  payload: { image: 'cat.png', sizes: [{ width: 320 }, null], nested: { any: { field: true } } },
};
export const withoutPayload: Schemas['CreateJob'] = { name: 'resize', payload: null, callbackUrl: null };
export const failures: Schemas['Failure'][] = [{ error: 'disk full' }, { error: { code: 28, path: ['/tmp'] } }];
export const logs: Body<'/api/v1/jobs/{jobId}/logs'> = [
  'decoding',
  { message: 'no color profile', level: 'warn', metadata: { file: 'cat.png', size: { width: 320 } } },
];
export const key: Schemas['CreateKey'] = { name: 'resizers', scopes: ['jobs:worker'], expiresAt: null };

/** Read fields whose types are easily lost. */
export function read(job: Schemas['Job'], outcome: Schemas['ClaimOutcome']): (string | null)[] {
  const image: unknown = job.payload?.image;
  const ended: string | null = job.completedAt;
  const width: unknown = outcome.claimed ? outcome.job.payload?.width : outcome.status;
  return [String(image), ended, String(width)];
}

export function isKnown({ code, jobStatus, details }: Schemas['Error']): boolean {
  return code === 'JOB_NOT_RUNNING' && jobStatus === 'completed' && details?.[0]?.path === 'name';
}
