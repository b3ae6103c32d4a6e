/** What a person sees once it serves: where it is, the key, and a line to paste. */
export function banner({ url, adminKey, dataDir }: { url: string; adminKey: string; dataDir: string | null }): string {
  return `
  Yardmaster is ready at ${url}

  Admin key   ${adminKey}
  Jobs        ${dataDir === null ? 'in the Redis at REDIS_URL' : `kept in ${dataDir}`}

  Create a job in the space "demo":

    curl -s -X POST ${url}/api/v1/spaces/demo/jobs -H 'x-api-key: ${adminKey}' -H 'content-type: application/json' -d '{"name":"hello"}'

  Stop with Ctrl-C.
`;
}
