import type { CreateJobRequest, SpaceSettings } from '@yardmaster/protocol';

/** Apply the defaults of a space to fields of a create that are absent or null. */
export function withSpaceDefaults(request: CreateJobRequest, { defaults }: SpaceSettings = {}): CreateJobRequest {
  if (defaults === undefined) return request;
  return {
    ...request,
    maxRetries: request.maxRetries ?? defaults.maxRetries,
    timeoutSeconds: request.timeoutSeconds ?? defaults.timeoutSeconds,
    retry: request.retry ?? defaults.retry ?? null,
    maxRunSeconds: request.maxRunSeconds ?? defaults.maxRunSeconds ?? null,
  };
}
