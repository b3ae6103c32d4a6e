/** Stop each worker's service and Redis. @throws when a service did not exit 0 on SIGTERM */
export default async function tearDown() {
  const codes = await Promise.all(
    (globalThis.testWorkers ?? []).map(async ({ redis, service }) => {
      const code = await service.stop();
      await redis.stop();
      return code;
    }),
  );
  if (codes.some((code) => code !== 0)) throw new Error(`shared services exited with ${codes}, not all with 0`);
}
