export interface BannerOptions {
  url: string;
  /** The key that the standalone made; null for the operator's own key, because that must not be printed. */
  adminKey: string | null;
  /** Folder of the standalone's own Redis; null when the operator provides the Redis. */
  dataDir: string | null;
}

/** Return the text for a person once the service serves: its URL, the key, and a command to paste. */
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
