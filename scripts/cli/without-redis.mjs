// Replaces @yardmaster/fsck in the npm package, with the exports that the CLI uses.

/** Kinds of faults: empty, because no check runs. */
export const FAULTS = {};

export const reasonOf = (error) => error.message;

export async function runFsck() {
  throw new Error(
    'fsck needs Redis, so this package does not include it; run it where the service is installed: ' +
      'node apps/cli/bin/yardmaster.mjs fsck',
  );
}

export { runFsck as runShow };
