// What the package yardmaster has in place of @yardmaster/fsck, with the exports that the command uses.

/** Kinds of faults. No check runs, so there are none. */
export const FAULTS = {};

export class FormatError extends Error {}

export const reasonOf = (error) => error.message;

const elsewhere = (command) => {
  throw new Error(
    `${command} works on Redis itself, so this package does not have it; run it where the service is installed: ` +
      `node apps/cli/bin/yardmaster.mjs ${command}`,
  );
};

export const runFsck = async () => elsewhere('fsck');
export const runFormat = async () => elsewhere('format');
