export interface BannerOptions {
  url: string;
  /** The key that was made here; null when the operator gave one, because that is not shown again. */
  adminKey: string | null;
  /** Null when the operator provides the Redis that stores the jobs. */
  dataDir: string | null;
}

/** Return what a person sees once the service serves: its URL, the key, and a line to paste. */
export function banner({ url, adminKey, dataDir }: BannerOptions): string {
  const header = adminKey === null ? '"x-api-key: $ADMIN_API_KEY"' : `'x-api-key: ${adminKey}'`;
  return `
  Yardmaster is ready at ${url}

  Admin key   ${adminKey ?? 'the one in ADMIN_API_KEY'}
  Jobs        ${dataDir === null ? 'in the Redis at REDIS_URL' : `kept in ${dataDir}`}

  Create a job in the space "demo":

    curl -s -X POST ${url}/api/v1/spaces/demo/jobs -H ${header} -H 'content-type: application/json' -d '{"name":"hello"}'

  Stop with Ctrl-C.
`;
}
